/* The usual measures of a run against qrels that are dictionaries: {query: {document: value}}.
 *
 * This is the quick half of `evaluating` for what is in memory; the functions of
 * `benchwright.measures` are the other one and the reference: to the bit the same, as every sum is
 * taken in their order. Only what is as usual is taken: dictionaries of text (or of bytes) with
 * whole grades and scores that are numbers. Of anything else, right or wrong, nothing is said here:
 * the answer is None, and the caller reads it the long way, which is the one author of messages.
 *
 * Nothing of Python's runs meanwhile but the hashes and comparisons of plain text, bytes and
 * numbers, so that no dictionary changes while it is gone through.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum { FINE, UNUSUAL, FAILED } Status; /* FAILED: with an error of Python's */

#define TRY(call)                                                                                  \
    do {                                                                                           \
        Status tried = (call);                                                                     \
        if (tried != FINE)                                                                         \
            return tried;                                                                          \
    } while (0)

/* As `in_memory.KINDS` has them, in its order. */
typedef enum {
    NDCG, DCG, AP, RR, PRECISION, RECALL, CAPPED_RECALL, SUCCESS, RPREC, BPREF, JUDGED, N_KINDS
} Kind;

typedef struct {
    Kind kind;
    long cutoff; /* 0: none */
    long rel;
    PyObject *name; /* NULL: asked for its mean alone */
    PyObject *values;
    Py_ssize_t n_undefined;
} Asked;

typedef struct {
    double score;
    const char *id;
    Py_ssize_t size;
    long rank, grade;
    bool is_hit;
} Entry;

#define LARGEST_GRADE 999999999 /* as benchwright.reading.memory has it */
#define N_DISCOUNTS 1024

typedef enum { TREC, TREC9, DOCID_ASC } Ties;

typedef struct {
    Ties ties;
    bool is_compensated;
    PyTypeObject *id_type; /* of every id: text or bytes; NULL before the first */
    Asked *asked;
    Py_ssize_t n_asked;
    double *scores, *gains; /* gains: the grades above 0, descending */
    Entry *hits, *tied;
    long *grades;
    size_t scores_room, gains_room, hits_room, tied_room, grades_room;
    size_t n_scores, n_gains, n_hits, n_grades;
    long top_grade;
} Work;

static double discounts[N_DISCOUNTS]; /* by rank */

static double discount_of(long rank)
{
    return rank < N_DISCOUNTS ? discounts[rank] : log2((double)rank + 1.0);
}

static Status reserve(void **data, size_t *room, size_t need, size_t width)
{
    if (need <= *room)
        return FINE;
    size_t wanted = need + need / 2 + 16;
    void *grown = wanted > SIZE_MAX / width ? NULL : realloc(*data, wanted * width);
    if (!grown)
        return PyErr_NoMemory(), FAILED;
    *data = grown;
    *room = wanted;
    return FINE;
}

#define RESERVE(data, room, need) reserve((void **)&(data), &(room), (need), sizeof *(data))

/* --- what is given --------------------------------------------------------------------------- */

static PyTypeObject *defaultdict; /* adds nothing to how a dictionary is read */

static bool is_dictionary(PyObject *given)
{
    return PyDict_CheckExact(given) || Py_TYPE(given) == defaultdict;
}

/* All ids are of one type. */
static bool is_id(Work *work, PyObject *given)
{
    PyTypeObject *type = Py_TYPE(given);
    if (type == work->id_type)
        return true;
    if (work->id_type || (type != &PyUnicode_Type && type != &PyBytes_Type))
        return false;
    work->id_type = type;
    return true;
}

/* The bytes of an id; text that UTF-8 cannot say is unusual. */
static Status bytes_of(PyObject *id, const char **bytes, Py_ssize_t *size)
{
    if (Py_TYPE(id) == &PyBytes_Type) {
        *bytes = PyBytes_AsString(id);
        *size = PyBytes_Size(id);
        return FINE;
    }
    *bytes = PyUnicode_AsUTF8AndSize(id, size);
    if (*bytes)
        return FINE;
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
        return FAILED;
    PyErr_Clear();
    return UNUSUAL;
}

static Status score_of(const Work *work, PyObject *value, double *score)
{
    if (Py_TYPE(value) == &PyFloat_Type) {
        *score = PyFloat_AsDouble(value);
    } else if (Py_TYPE(value) == &PyLong_Type) {
        *score = PyLong_AsDouble(value);
        if (*score == -1.0 && PyErr_Occurred())
            return PyErr_Clear(), UNUSUAL;
    } else {
        return UNUSUAL;
    }
    if (isnan(*score))
        return UNUSUAL;
    if (work->ties == TREC9)
        *score = (double)(float)*score;
    return FINE;
}

static Status grade_of(PyObject *value, long *grade)
{
    int overflow;
    if (Py_TYPE(value) != &PyLong_Type)
        return UNUSUAL;
    *grade = PyLong_AsLongAndOverflow(value, &overflow);
    if (overflow || *grade > LARGEST_GRADE || *grade < -LARGEST_GRADE)
        return UNUSUAL;
    return FINE;
}

/* --- one query ------------------------------------------------------------------------------- */

static Status take_scores(Work *work, PyObject *documents)
{
    Py_ssize_t at = 0, size;
    PyObject *id, *value;
    const char *bytes;
    work->n_scores = 0;
    TRY(RESERVE(work->scores, work->scores_room, (size_t)PyDict_Size(documents)));
    while (PyDict_Next(documents, &at, &id, &value)) {
        if (!is_id(work, id))
            return UNUSUAL;
        TRY(bytes_of(id, &bytes, &size));
        TRY(score_of(work, value, &work->scores[work->n_scores++]));
    }
    return FINE;
}

/* The grades of a query, and which of them are of documents that the run has (NULL: of none). */
static Status take_grades(Work *work, PyObject *judged, PyObject *documents)
{
    Py_ssize_t at = 0;
    PyObject *id, *value;
    size_t n = (size_t)PyDict_Size(judged);
    work->n_hits = work->n_grades = 0;
    TRY(RESERVE(work->grades, work->grades_room, n));
    TRY(RESERVE(work->hits, work->hits_room, n));
    while (PyDict_Next(judged, &at, &id, &value)) {
        Entry *hit = &work->hits[work->n_hits];
        if (!is_id(work, id))
            return UNUSUAL;
        TRY(bytes_of(id, &hit->id, &hit->size));
        TRY(grade_of(value, &hit->grade));
        if (hit->grade > work->top_grade)
            work->top_grade = hit->grade;
        work->grades[work->n_grades++] = hit->grade;
        PyObject *score = documents ? PyDict_GetItemWithError(documents, id) : NULL;
        if (score) {
            TRY(score_of(work, score, &hit->score));
            work->n_hits++;
        } else if (PyErr_Occurred()) {
            return FAILED;
        }
    }
    return FINE;
}

static int by_score(const void *one, const void *other)
{
    double a = ((const Entry *)one)->score, b = ((const Entry *)other)->score;
    return (a < b) - (a > b);
}

static int by_rank(const void *one, const void *other)
{
    long a = ((const Entry *)one)->rank, b = ((const Entry *)other)->rank;
    return (a > b) - (a < b);
}

static int by_id(const Entry *one, const Entry *other)
{
    size_t shorter = (size_t)(one->size < other->size ? one->size : other->size);
    int order = memcmp(one->id, other->id, shorter);
    return order ? order : (one->size > other->size) - (one->size < other->size);
}

static int by_score_then_id(const void *one, const void *other)
{
    int order = by_score(one, other);
    return order ? order : by_id(one, other);
}

static int by_score_then_id_descending(const void *one, const void *other)
{
    int order = by_score(one, other);
    return order ? order : by_id(other, one);
}

static void sort(Entry *entries, size_t n, int (*order)(const void *, const void *))
{
    if (n > 24) {
        qsort(entries, n, sizeof *entries, order);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        Entry entry = entries[i];
        size_t to = i;
        for (; to && order(&entries[to - 1], &entry) > 0; to--)
            entries[to] = entries[to - 1];
        entries[to] = entry;
    }
}

/* The first hit whose score is not above this one; `hits` by score descending. */
static size_t place_of(const Work *work, double score)
{
    size_t low = 0, high = work->n_hits;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (work->hits[middle].score > score)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Hits that others have the score of come in the order of the ids. */
static Status rank_tied(Work *work, PyObject *documents)
{
    Py_ssize_t at = 0;
    PyObject *id, *value;
    size_t n = 0, number = 0;
    TRY(RESERVE(work->tied, work->tied_room, work->n_scores));
    while (PyDict_Next(documents, &at, &id, &value)) {
        double score = work->scores[number++];
        size_t place = place_of(work, score);
        if (place < work->n_hits && work->hits[place].score == score) {
            Entry *entry = &work->tied[n++];
            TRY(bytes_of(id, &entry->id, &entry->size));
            entry->score = score;
            entry->rank = work->hits[place].rank;
        }
    }
    /* Equal ids stand next to each other: that of a hit, and that of the document it is. */
    sort(work->tied, n, work->ties == DOCID_ASC ? by_score_then_id : by_score_then_id_descending);
    sort(work->hits, work->n_hits,
         work->ties == DOCID_ASC ? by_score_then_id : by_score_then_id_descending);
    size_t hit = 0;
    long place = 0;
    for (size_t i = 0; i < n && hit < work->n_hits; i++) {
        place = i && work->tied[i].score == work->tied[i - 1].score ? place + 1 : 0;
        if (work->hits[hit].score == work->tied[i].score && !by_id(&work->hits[hit], &work->tied[i]))
            work->hits[hit++].rank = work->tied[i].rank + place;
    }
    return FINE;
}

/* Nothing is sorted but the hits: of the other documents it counts only what they stand above. */
static Status rank_hits(Work *work, PyObject *documents)
{
    size_t n = work->n_hits;
    if (!n)
        return FINE;
    sort(work->hits, n, by_score);
    for (size_t i = 0; i < n; i++)
        work->hits[i].rank = 0;
    size_t n_equal = 0;
    for (size_t i = 0; i < work->n_scores; i++) {
        double score = work->scores[i];
        size_t place = place_of(work, score);
        for (; place < n && work->hits[place].score == score; place++)
            n_equal++;
        if (place < n)
            work->hits[place].rank++; /* as many stand above it, and above the hits below it */
    }
    long above = 0;
    for (size_t i = 0; i < n; i++) {
        above += work->hits[i].rank;
        work->hits[i].rank = above + 1;
    }
    if (n_equal == n) /* each hit equals itself alone */
        return FINE;
    TRY(rank_tied(work, documents));
    sort(work->hits, n, by_rank);
    return FINE;
}

/* --- measures -------------------------------------------------------------------------------- */

/* A sum as Python's own: since 3.12 with what the additions lost. */
typedef struct {
    double total, lost;
} Sum;

static void add(Sum *sum, double term)
{
    double total = sum->total + term;
    sum->lost += fabs(sum->total) >= fabs(term) ? (sum->total - total) + term
                                                 : (term - total) + sum->total;
    sum->total = total;
}

static double total_of(const Work *work, Sum sum)
{
    bool is_mended = work->is_compensated && sum.lost != 0.0 && isfinite(sum.lost);
    return is_mended ? sum.total + sum.lost : sum.total;
}

static bool is_within(const Asked *asked, const Entry *hit)
{
    return !asked->cutoff || hit->rank <= asked->cutoff;
}

static double gain_of(const Work *work, const Asked *asked)
{
    Sum sum = {0.0, 0.0};
    for (size_t i = 0; i < work->n_hits && is_within(asked, &work->hits[i]); i++)
        if (work->hits[i].grade > 0)
            add(&sum, (double)work->hits[i].grade / discount_of(work->hits[i].rank));
    return total_of(work, sum);
}

static double ideal_gain_of(const Work *work, const Asked *asked)
{
    Sum sum = {0.0, 0.0};
    size_t n = work->n_gains;
    if (asked->cutoff && (size_t)asked->cutoff < n)
        n = (size_t)asked->cutoff;
    for (size_t i = 0; i < n; i++)
        add(&sum, work->gains[i] / discount_of((long)i + 1));
    return total_of(work, sum);
}

static long n_relevant(const Work *work, long rel)
{
    long n = 0;
    for (size_t i = 0; i < work->n_grades; i++)
        n += work->grades[i] >= rel;
    return n;
}

static long n_found(const Work *work, const Asked *asked)
{
    long n = 0;
    for (size_t i = 0; i < work->n_hits && is_within(asked, &work->hits[i]); i++)
        n += work->hits[i].grade >= asked->rel;
    return n;
}

static double precisions_of(const Work *work, const Asked *asked)
{
    Sum sum = {0.0, 0.0};
    long n = 0;
    for (size_t i = 0; i < work->n_hits && is_within(asked, &work->hits[i]); i++)
        if (work->hits[i].grade >= asked->rel)
            add(&sum, (double)++n / (double)work->hits[i].rank);
    return total_of(work, sum);
}

static double reciprocal_rank(const Work *work, const Asked *asked)
{
    for (size_t i = 0; i < work->n_hits && is_within(asked, &work->hits[i]); i++)
        if (work->hits[i].grade >= asked->rel)
            return 1.0 / (double)work->hits[i].rank;
    return 0.0;
}

static double r_precision(const Work *work, const Asked *asked, long relevant)
{
    Asked down_to = *asked;
    down_to.cutoff = relevant;
    return relevant ? (double)n_found(work, &down_to) / (double)relevant : 0.0;
}

static double bpref(const Work *work, const Asked *asked, long relevant)
{
    long n_others = n_relevant(work, 0) - relevant, n_above = 0;
    long most = n_others < relevant ? n_others : relevant;
    double preferred = 0.0, worth = 1.0;
    for (size_t i = 0; i < work->n_hits; i++) {
        if (work->hits[i].grade >= asked->rel)
            preferred += worth;
        else if (work->hits[i].grade >= 0 && ++n_above <= relevant)
            worth = 1.0 - (double)n_above / (double)most;
    }
    return relevant ? preferred / (double)relevant : 0.0;
}

static double judged_share(const Work *work, const Asked *asked)
{
    Asked judged = *asked;
    judged.rel = 0;
    long n_seen = (long)work->n_scores;
    if (asked->cutoff && asked->cutoff < n_seen)
        n_seen = asked->cutoff;
    return n_seen ? (double)n_found(work, &judged) / (double)n_seen : NAN;
}

static double value_of(const Work *work, const Asked *asked)
{
    long relevant = n_relevant(work, asked->rel);
    double best;
    switch (asked->kind) {
    case NDCG:
        best = ideal_gain_of(work, asked);
        return best != 0.0 ? gain_of(work, asked) / best : 0.0;
    case DCG:
        return gain_of(work, asked);
    case AP:
        return relevant ? precisions_of(work, asked) / (double)relevant : 0.0;
    case RR:
        return reciprocal_rank(work, asked);
    case PRECISION:
        return (double)n_found(work, asked) / (double)asked->cutoff;
    case RECALL:
        return relevant ? (double)n_found(work, asked) / (double)relevant : 0.0;
    case CAPPED_RECALL:
        if (!relevant)
            return 0.0;
        return (double)n_found(work, asked) /
               (double)(relevant < asked->cutoff ? relevant : asked->cutoff);
    case SUCCESS:
        return n_found(work, asked) ? 1.0 : 0.0;
    case RPREC:
        return r_precision(work, asked, relevant);
    case BPREF:
        return bpref(work, asked, relevant);
    default:
        return judged_share(work, asked);
    }
}

static int descending(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a < b) - (a > b);
}

static Status take_gains(Work *work)
{
    work->n_gains = 0;
    TRY(RESERVE(work->gains, work->gains_room, work->n_grades));
    bool is_sorted = true;
    for (size_t i = 0; i < work->n_grades; i++)
        if (work->grades[i] > 0) {
            double gain = (double)work->grades[i];
            is_sorted = is_sorted && (!work->n_gains || work->gains[work->n_gains - 1] >= gain);
            work->gains[work->n_gains++] = gain;
        }
    if (!is_sorted)
        qsort(work->gains, work->n_gains, sizeof *work->gains, descending);
    return FINE;
}

/* --- all queries ----------------------------------------------------------------------------- */

/* The values of a query, at the end of each column and by name. */
static Status keep_values(Work *work, PyObject *per_query, PyObject *qid)
{
    PyObject *named = PyDict_New();
    bool is_kept = named;
    for (Py_ssize_t i = 0; is_kept && i < work->n_asked; i++) {
        Asked *asked = &work->asked[i];
        double value = value_of(work, asked);
        PyObject *boxed = PyFloat_FromDouble(value);
        asked->n_undefined += isnan(value);
        is_kept = boxed && PyList_Append(asked->values, boxed) == 0 &&
                  (!asked->name || PyDict_SetItem(named, asked->name, boxed) == 0);
        Py_XDECREF(boxed);
    }
    is_kept = is_kept && PyDict_SetItem(per_query, qid, named) == 0;
    Py_XDECREF(named);
    return is_kept ? FINE : FAILED;
}

/* Everything of the run that no query of the qrels will look at. */
static Status look_at_rest(Work *work, PyObject *qrels, PyObject *run)
{
    Py_ssize_t at = 0;
    PyObject *qid, *documents;
    const char *bytes;
    Py_ssize_t size;
    while (PyDict_Next(run, &at, &qid, &documents)) {
        if (!is_id(work, qid) || !is_dictionary(documents))
            return UNUSUAL;
        TRY(bytes_of(qid, &bytes, &size));
        PyObject *judged = PyDict_GetItemWithError(qrels, qid);
        if (!judged && PyErr_Occurred())
            return FAILED;
        if (!judged)
            TRY(take_scores(work, documents));
    }
    return FINE;
}

static Status score_queries(Work *work, PyObject *qrels, PyObject *run, bool is_zero,
                            PyObject *per_query, Py_ssize_t *n_common)
{
    Py_ssize_t at = 0;
    PyObject *qid, *judged;
    const char *bytes;
    Py_ssize_t size;
    while (PyDict_Next(qrels, &at, &qid, &judged)) {
        if (!is_id(work, qid) || !is_dictionary(judged))
            return UNUSUAL;
        TRY(bytes_of(qid, &bytes, &size));
    }
    TRY(look_at_rest(work, qrels, run));
    at = 0;
    while (PyDict_Next(qrels, &at, &qid, &judged)) {
        PyObject *documents = PyDict_GetItemWithError(run, qid);
        if (!documents && PyErr_Occurred())
            return FAILED;
        work->n_scores = 0;
        if (documents)
            TRY(take_scores(work, documents));
        TRY(take_grades(work, judged, documents));
        *n_common += documents != NULL;
        if (!documents && !is_zero)
            continue;
        TRY(rank_hits(work, documents));
        TRY(take_gains(work));
        TRY(keep_values(work, per_query, qid));
    }
    return FINE;
}

/* The rows of (name or None, kind, cutoff or 0, rel). */
static Status take_asked(Work *work, PyObject *rows)
{
    Py_ssize_t n = PyTuple_Size(rows);
    work->asked = n < 0 ? NULL : calloc((size_t)n + 1, sizeof *work->asked);
    if (!work->asked)
        return n < 0 ? FAILED : (PyErr_NoMemory(), FAILED);
    for (; work->n_asked < n; work->n_asked++) {
        Asked *asked = &work->asked[work->n_asked];
        int kind;
        if (!PyArg_ParseTuple(PyTuple_GetItem(rows, work->n_asked), "Oill", &asked->name, &kind,
                              &asked->cutoff, &asked->rel))
            return FAILED;
        bool needs_cutoff = kind == PRECISION || kind == CAPPED_RECALL;
        if (kind < 0 || kind >= N_KINDS || asked->cutoff < needs_cutoff || asked->rel < 1) {
            PyErr_SetString(PyExc_ValueError, "expected a measure as KINDS has it");
            return FAILED;
        }
        asked->kind = (Kind)kind;
        if (asked->name == Py_None)
            asked->name = NULL;
        asked->values = PyList_New(0);
        if (!asked->values)
            return FAILED;
    }
    return FINE;
}

static PyObject *answer_of(const Work *work, PyObject *per_query, Py_ssize_t n_common)
{
    PyObject *columns = PyList_New(0);
    for (Py_ssize_t i = 0; columns && i < work->n_asked; i++) {
        PyObject *column = Py_BuildValue("(On)", work->asked[i].values, work->asked[i].n_undefined);
        if (!column || PyList_Append(columns, column) < 0)
            Py_CLEAR(columns);
        Py_XDECREF(column);
    }
    if (!columns)
        return NULL;
    return Py_BuildValue("(ONnl)", per_query, columns, n_common, work->top_grade);
}

static PyObject *score(PyObject *module, PyObject *args)
{
    PyObject *qrels, *run, *rows, *answer = NULL;
    int ties, is_zero, is_compensated;
    if (!PyArg_ParseTuple(args, "OOO!ipp:score", &qrels, &run, &PyTuple_Type, &rows, &ties,
                          &is_zero, &is_compensated))
        return NULL;
    if (ties < TREC || ties > DOCID_ASC)
        return PyErr_SetString(PyExc_ValueError, "expected a rule of ties"), NULL;
    if (!is_dictionary(qrels) || !is_dictionary(run))
        return Py_BuildValue("");
    Work work = {.ties = (Ties)ties, .is_compensated = is_compensated, .top_grade = 1};
    Py_ssize_t n_common = 0;
    PyObject *per_query = PyDict_New();
    Status status = per_query ? take_asked(&work, rows) : FAILED;
    if (status == FINE)
        status = score_queries(&work, qrels, run, is_zero, per_query, &n_common);
    if (status == FINE)
        answer = answer_of(&work, per_query, n_common);
    else if (status == UNUSUAL)
        answer = Py_BuildValue("");
    for (Py_ssize_t i = 0; work.asked && i < work.n_asked; i++)
        Py_XDECREF(work.asked[i].values);
    Py_XDECREF(per_query);
    free(work.asked);
    free(work.scores);
    free(work.gains);
    free(work.hits);
    free(work.tied);
    free(work.grades);
    return answer;
}

/* Three columns as nested dictionaries: None where a document stands twice in a query. */
static PyObject *nested(PyObject *module, PyObject *args)
{
    PyObject *qids, *docids, *values;
    if (!PyArg_ParseTuple(args, "O!O!O!:nested", &PyList_Type, &qids, &PyList_Type, &docids,
                          &PyList_Type, &values))
        return NULL;
    Py_ssize_t n = PyList_Size(qids);
    if (PyList_Size(docids) != n || PyList_Size(values) != n)
        return PyErr_SetString(PyExc_ValueError, "expected columns of one length"), NULL;
    PyObject *queries = PyDict_New(), *last = NULL, *documents = NULL;
    Py_ssize_t n_before = 0;
    for (Py_ssize_t i = 0; queries && i < n; i++) {
        PyObject *qid = PyList_GetItem(qids, i), *docid = PyList_GetItem(docids, i);
        bool is_plain = (Py_TYPE(qid) == &PyUnicode_Type || Py_TYPE(qid) == &PyBytes_Type) &&
                        (Py_TYPE(docid) == &PyUnicode_Type || Py_TYPE(docid) == &PyBytes_Type);
        if (!is_plain) {
            Py_DECREF(queries);
            return Py_BuildValue("");
        }
        if (qid != last) {
            last = qid;
            documents = PyDict_GetItemWithError(queries, qid);
            if (!documents && !PyErr_Occurred()) {
                documents = PyDict_New();
                if (documents && PyDict_SetItem(queries, qid, documents) < 0)
                    Py_CLEAR(queries);
                Py_XDECREF(documents); /* held by `queries` */
            }
            if (!queries || !documents)
                break;
            n_before = PyDict_Size(documents);
        }
        if (PyDict_SetItem(documents, docid, PyList_GetItem(values, i)) < 0)
            Py_CLEAR(queries);
        else if (PyDict_Size(documents) != ++n_before) {
            Py_DECREF(queries);
            return Py_BuildValue("");
        }
    }
    if (PyErr_Occurred())
        Py_CLEAR(queries);
    return queries;
}

static PyMethodDef METHODS[] = {
    {"score", score, METH_VARARGS,
     "score(qrels, run, asked, ties, is_zero, is_compensated)\n"
     "-> (values by query, [(values, n undefined)] as asked, n common, top grade) | None"},
    {"nested", nested, METH_VARARGS,
     "nested(queries, documents, values) -> {query: {document: value}} | None"},
    {NULL, NULL, 0, NULL},
};

static int start_module(PyObject *module)
{
    for (long rank = 0; rank < N_DISCOUNTS; rank++)
        discounts[rank] = log2((double)rank + 1.0);
    PyObject *collections = PyImport_ImportModule("collections");
    PyObject *type = collections ? PyObject_GetAttrString(collections, "defaultdict") : NULL;
    Py_XDECREF(collections);
    if (!type)
        return -1;
    defaultdict = (PyTypeObject *)type; /* kept for as long as the process lives */
    return 0;
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, start_module}, {0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT,
    .m_name = "benchwright.evaluation._mappings",
    .m_doc = "Usual measures of dictionaries; `benchwright.evaluation.in_memory` calls it.",
    .m_methods = METHODS,
    .m_slots = SLOTS,
};

PyMODINIT_FUNC PyInit__mappings(void)
{
    return PyModuleDef_Init(&MODULE);
}
