/* Runs and qrels from their bytes to hits, without keeping a single document that is not needed.
 *
 * This is the quick half of `scanning`; `twin` is the other one and the reference. What is legal is
 * scanned here, oddities included, with the same results and the same warnings. What is not
 * (a line or score that cannot be read, a document twice in a query) is only noticed: the status is
 * REFUSED, and the caller lets the twin read the file again and say what is wrong. So there is one
 * author of messages.
 *
 * A file comes in blocks of any size (`feed`); a line may span blocks. The interpreter's lock is let
 * go while a block is scanned. A query's documents are kept until its block of rows ends. A query
 * that comes back later is INTERLEAVED: the caller then scans again with `keep`, which holds every
 * query until the end of the file.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char Byte;

typedef enum { FINE = 0, REFUSED = 1, INTERLEAVED = 2, NO_MEMORY = 3 } Status;

#define LONGEST_LINE ((size_t)64 << 20) /* as benchwright.files.sources has it */
#define LONGEST_NUMBER 300
#define LONGEST_PREFIX 256
#define MOST_ROWS ((size_t)UINT32_MAX - 1)
#define NOWHERE SIZE_MAX

#define TRY(call)                                                                                  \
    do {                                                                                           \
        Status tried = (call);                                                                     \
        if (tried != FINE)                                                                         \
            return tried;                                                                          \
    } while (0)

/* --- memory --------------------------------------------------------------------------------- */

/* Room for `need` items; the capacity doubles, so that appending is cheap. */
static Status reserve(void **data, size_t *capacity, size_t need, size_t width)
{
    if (need <= *capacity)
        return FINE;
    size_t wanted = *capacity ? *capacity : 16;
    while (wanted < need) {
        if (wanted > SIZE_MAX / 2)
            return NO_MEMORY;
        wanted *= 2;
    }
    if (wanted > SIZE_MAX / width)
        return NO_MEMORY;
    void *grown = realloc(*data, wanted * width);
    if (!grown)
        return NO_MEMORY;
    *data = grown;
    *capacity = wanted;
    return FINE;
}

#define RESERVE(data, capacity, need) reserve((void **)&(data), &(capacity), (need), sizeof *(data))

typedef struct {
    Byte *data;
    size_t size, capacity;
} Bytes;

static Status append(Bytes *bytes, const Byte *from, size_t size)
{
    TRY(RESERVE(bytes->data, bytes->capacity, bytes->size + size));
    if (size)
        memcpy(bytes->data + bytes->size, from, size);
    bytes->size += size;
    return FINE;
}

static bool are_equal(const Byte *one, size_t one_size, const Byte *other, size_t other_size)
{
    return one_size == other_size && memcmp(one, other, one_size) == 0;
}

/* As Python compares bytes: a prefix is less. */
static int compare(const Byte *one, size_t one_size, const Byte *other, size_t other_size)
{
    int order = memcmp(one, other, one_size < other_size ? one_size : other_size);
    if (order)
        return order;
    return (one_size > other_size) - (one_size < other_size);
}

/* --- hashing -------------------------------------------------------------------------------- */

/* Drawn anew in every process: nobody can prepare ids that all fall into one slot. */
static uint64_t secret[2];

static uint64_t mixed(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t a_high = a >> 32, a_low = (uint32_t)a, b_high = b >> 32, b_low = (uint32_t)b;
    uint64_t cross = a_high * b_low, other = a_low * b_high, low = a_low * b_low;
    uint64_t middle = (low >> 32) + (uint32_t)cross + (uint32_t)other;
    uint64_t high = a_high * b_high + (cross >> 32) + (other >> 32) + (middle >> 32);
    return high ^ ((middle << 32) | (uint32_t)low);
#endif
}

static uint64_t load_8(const Byte *at)
{
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

static uint64_t load_4(const Byte *at)
{
    uint32_t word;
    memcpy(&word, at, 4);
    return word;
}

static uint64_t hash_of(const Byte *at, size_t size)
{
    uint64_t hash = secret[0] ^ size, last;
    if (size >= 8) {
        for (size_t i = 0; i + 8 < size; i += 8)
            hash = mixed(hash ^ load_8(at + i), secret[1]);
        last = load_8(at + size - 8);
    } else if (size >= 4) {
        last = load_4(at) << 32 | load_4(at + size - 4);
    } else {
        last = size ? (uint64_t)at[0] << 16 | (uint64_t)at[size >> 1] << 8 | at[size - 1] : 0;
    }
    return mixed(hash ^ last, secret[1]);
}

/* Names in the order they were first seen. */
typedef struct {
    size_t start, size;
    uint64_t hash;
} Name;

typedef struct {
    Bytes bytes;
    Name *names;
    size_t n, capacity;
    uint32_t *slots; /* place in `names` + 1, or 0 */
    size_t n_slots;
} Names;

static const Byte *name_at(const Names *names, size_t place)
{
    return names->bytes.data + names->names[place].start;
}

static size_t find_name(const Names *names, const Byte *at, size_t size, uint64_t hash)
{
    if (!names->n_slots)
        return NOWHERE;
    for (size_t slot = hash & (names->n_slots - 1); names->slots[slot];
         slot = (slot + 1) & (names->n_slots - 1)) {
        size_t place = names->slots[slot] - 1;
        const Name *name = &names->names[place];
        if (name->hash == hash && are_equal(name_at(names, place), name->size, at, size))
            return place;
    }
    return NOWHERE;
}

static Status grow_name_slots(Names *names)
{
    size_t wanted = names->n_slots ? names->n_slots * 2 : 64;
    uint32_t *slots = calloc(wanted, sizeof *slots);
    if (!slots)
        return NO_MEMORY;
    for (size_t place = 0; place < names->n; place++) {
        size_t slot = names->names[place].hash & (wanted - 1);
        while (slots[slot])
            slot = (slot + 1) & (wanted - 1);
        slots[slot] = (uint32_t)(place + 1);
    }
    free(names->slots);
    names->slots = slots;
    names->n_slots = wanted;
    return FINE;
}

/* Appends a name that is not there yet. */
static Status add_name(Names *names, const Byte *at, size_t size, uint64_t hash)
{
    if (names->n >= MOST_ROWS)
        return REFUSED;
    if ((names->n + 1) * 2 > names->n_slots)
        TRY(grow_name_slots(names));
    TRY(RESERVE(names->names, names->capacity, names->n + 1));
    size_t start = names->bytes.size;
    TRY(append(&names->bytes, at, size));
    size_t slot = hash & (names->n_slots - 1);
    while (names->slots[slot])
        slot = (slot + 1) & (names->n_slots - 1);
    names->names[names->n] = (Name){start, size, hash};
    names->slots[slot] = (uint32_t)++names->n;
    return FINE;
}

static void free_names(Names *names)
{
    free(names->bytes.data);
    free(names->names);
    free(names->slots);
}

/* --- numbers -------------------------------------------------------------------------------- */

enum { ORDINARY = 0, BLANK, RETURN, FEED };
static const Byte ENDS[256] = {[' '] = BLANK, ['\t'] = BLANK, ['\r'] = RETURN, ['\n'] = FEED};

static const double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#ifdef __SIZEOF_INT128__
static const uint64_t WHOLE_TENS[] = {1ULL,
                                      10ULL,
                                      100ULL,
                                      1000ULL,
                                      10000ULL,
                                      100000ULL,
                                      1000000ULL,
                                      10000000ULL,
                                      100000000ULL,
                                      1000000000ULL,
                                      10000000000ULL,
                                      100000000000ULL,
                                      1000000000000ULL,
                                      10000000000000ULL,
                                      100000000000000ULL,
                                      1000000000000000ULL,
                                      10000000000000000ULL,
                                      100000000000000000ULL,
                                      1000000000000000000ULL,
                                      10000000000000000000ULL};

static int leading_zeros(uint64_t word)
{
    return __builtin_clzll(word);
}

/* The double nearest to whole / ten, ties to even: an exact division of integers, rounded once. */
static double divided(uint64_t whole, uint64_t ten)
{
    int up = leading_zeros(whole), ten_up = leading_zeros(ten);
    unsigned __int128 above = (unsigned __int128)(whole << up) << 63;
    uint64_t below = ten << ten_up;
    uint64_t quotient = (uint64_t)(above / below); /* between 2**62 and 2**64 */
    bool is_inexact = quotient * (unsigned __int128)below != above;
    int spare = 64 - leading_zeros(quotient) - 54;
    uint64_t bits = quotient >> spare; /* 54 bits: one more than a double has */
    is_inexact |= (quotient & (((uint64_t)1 << spare) - 1)) != 0;
    bits = (bits >> 1) + ((bits & 1) && (is_inexact || (bits >> 1 & 1)));
    uint64_t power = (uint64_t)(1023 + spare + 1 - 63 + ten_up - up) << 52;
    double scale;
    memcpy(&scale, &power, 8);
    return (double)bits * scale;
}
#endif

/* whole * 10**exponent where that can be had exactly rounded without a library. */
static bool is_short(uint64_t whole, int exponent, double *value)
{
    if (whole == 0) {
        *value = 0.0;
        return true;
    }
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
    /* Both factors are exact as doubles, so the one operation rounds correctly. */
    if (whole <= (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22) {
        *value = exponent < 0 ? (double)whole / TENS[-exponent] : (double)whole * TENS[exponent];
        return true;
    }
#ifdef __SIZEOF_INT128__
    if (exponent < 0 && exponent >= -19) {
        *value = divided(whole, WHOLE_TENS[-exponent]);
        return true;
    }
#endif
#endif
    return false;
}

static bool is_digit(Byte byte)
{
    return (unsigned)(byte - '0') <= 9;
}

static bool is_word(const Byte *at, const Byte *end, const char *word)
{
    for (; at < end && *word; at++, word++)
        if ((*at | 0x20) != *word)
            return false;
    return at == end && !*word;
}

static bool is_decimal(const Byte *at, const Byte *end)
{
    size_t n_digits = 0;
    for (; at < end && is_digit(*at); at++)
        n_digits++;
    if (at < end && *at == '.')
        for (at++; at < end && is_digit(*at); at++)
            n_digits++;
    if (!n_digits)
        return false;
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        if (at == end)
            return false;
        while (at < end && is_digit(*at))
            at++;
    }
    return at == end;
}

/* What Python's float() reads, without underscores and NaN. `may_ask` the library: its decimal
 * point is a point. */
static bool long_score(const Byte *at, const Byte *end, bool may_ask, double *score)
{
    bool is_negative = *at == '-';
    if (is_negative || *at == '+')
        at++;
    if (is_word(at, end, "inf") || is_word(at, end, "infinity")) {
        *score = is_negative ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    char text[LONGEST_NUMBER + 1];
    if (!may_ask || end - at > LONGEST_NUMBER || !is_decimal(at, end))
        return false;
    memcpy(text, at, (size_t)(end - at));
    text[end - at] = 0;
    double value = strtod(text, NULL);
    *score = is_negative ? -value : value;
    return true;
}

/* Reads a score and moves past it; false where it is none, or too odd for here. */
static bool take_score(const Byte **at, bool may_ask, double *score)
{
    const Byte *start = *at, *p = start;
    bool is_negative = *p == '-';
    if (is_negative || *p == '+')
        p++;
    const uint64_t most = 1000000000000000000ULL; /* times ten plus nine fits */
    uint64_t whole = 0;
    int exponent = 0;
    const Byte *digits = p;
    for (; is_digit(*p) && whole < most; p++)
        whole = whole * 10 + (uint64_t)(*p - '0');
    size_t n_digits = (size_t)(p - digits);
    if (*p == '.') {
        digits = ++p;
        for (; is_digit(*p) && whole < most; p++)
            whole = whole * 10 + (uint64_t)(*p - '0');
        n_digits += (size_t)(p - digits);
        exponent = p - digits < 10000 ? -(int)(p - digits) : -10000;
    }
    if (n_digits && (*p | 0x20) == 'e') {
        p++;
        bool is_below = *p == '-';
        if (is_below || *p == '+')
            p++;
        int power = 0;
        for (digits = p; is_digit(*p) && p - digits < 4; p++)
            power = power * 10 + (*p - '0');
        n_digits = p == digits ? 0 : n_digits;
        exponent += is_below ? -power : power;
    }
    if (n_digits && ENDS[*p] && is_short(whole, exponent, score)) {
        *score = is_negative ? -*score : *score;
        *at = p;
        return true;
    }
    while (!ENDS[*p])
        p++;
    *at = p;
    return long_score(start, p, may_ask, score);
}

/* Reads a whole number of up to nine digits; false where the token is none. Moves past it. */
static bool take_whole(const Byte **at, int32_t *number)
{
    const Byte *p = *at;
    bool is_negative = *p == '-';
    if (is_negative || *p == '+')
        p++;
    int32_t value = 0;
    const Byte *digits = p;
    for (; is_digit(*p) && p - digits < 9; p++)
        value = value * 10 + (*p - '0');
    bool is_whole = p > digits && ENDS[*p];
    *number = is_negative ? -value : value;
    while (!ENDS[*p])
        p++;
    *at = p;
    return is_whole;
}

/* --- lines ---------------------------------------------------------------------------------- */

/* Every line that is looked at ends in a line feed, where each of these loops stops. */

static const Byte *token_end(const Byte *at)
{
    while (!ENDS[*at])
        at++;
    return at;
}

/* The token after this one, or NULL where the line ends, or holds a carriage return. */
static const Byte *next_token(const Byte *at)
{
    while (ENDS[*at] == BLANK)
        at++;
    return ENDS[*at] ? NULL : at;
}

/* Past blanks and carriage returns: where a line may begin, and where it may end. */
static const Byte *past_margin(const Byte *at)
{
    while (ENDS[*at] == BLANK || ENDS[*at] == RETURN)
        at++;
    return at;
}

static const Byte *past_line(const Byte *at)
{
    while (*at != '\n')
        at++;
    return at + 1;
}

/* Past a line of which nothing more is wanted; NULL if a carriage return stands inside it. */
static const Byte *past_rest(const Byte *at)
{
    for (; *at != '\n'; at++)
        if (*at == '\r') {
            at = past_margin(at);
            return *at == '\n' ? at + 1 : NULL;
        }
    return at + 1;
}

typedef struct {
    Bytes carried; /* a line of which the end has not come yet */
    size_t n_lines;
    bool may_mark;    /* the first line may begin with a byte order mark */
    bool has_mark;    /* and it did */
    Status status;    /* once it is not FINE, nothing more is scanned */
    const Byte *stop; /* one past the last line feed of what is being scanned */
} Lines;

/* Takes the line that begins at `*at` and moves behind it. */
typedef Status (*TakeLine)(void *scanner, const Byte **at);

static Status take_lines(Lines *lines, const Byte *at, const Byte *stop, TakeLine take, void *scanner)
{
    lines->stop = stop;
    if (at < stop && lines->may_mark) {
        lines->may_mark = false;
        if (stop - at > 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) {
            lines->has_mark = true;
            at += 3;
        }
    }
    while (at < stop) {
        lines->n_lines++;
        TRY(take(scanner, &at));
    }
    return FINE;
}

static Status take_carried(Lines *lines, TakeLine take, void *scanner)
{
    Bytes *carried = &lines->carried;
    TRY(take_lines(lines, carried->data, carried->data + carried->size, take, scanner));
    carried->size = 0;
    return FINE;
}

static Status feed_lines(Lines *lines, const Byte *at, size_t size, TakeLine take, void *scanner)
{
    const Byte *end = at + size, *last = end;
    if (lines->carried.size) {
        const Byte *feed = memchr(at, '\n', size);
        const Byte *first = feed ? feed + 1 : end;
        TRY(append(&lines->carried, at, (size_t)(first - at)));
        if (lines->carried.size > LONGEST_LINE)
            return REFUSED;
        if (!feed)
            return FINE;
        TRY(take_carried(lines, take, scanner));
        at = first;
    }
    while (last > at && last[-1] != '\n')
        last--;
    TRY(take_lines(lines, at, last, take, scanner));
    return append(&lines->carried, last, (size_t)(end - last));
}

/* The last line, which may lack its line feed. */
static Status end_lines(Lines *lines, TakeLine take, void *scanner)
{
    if (!lines->carried.size)
        return FINE;
    TRY(append(&lines->carried, (const Byte *)"\n", 1));
    return take_carried(lines, take, scanner);
}

/* --- grades --------------------------------------------------------------------------------- */

typedef struct {
    size_t start;
    uint32_t size;
    uint32_t hash;
    int32_t grade;
    uint32_t query;
    uint32_t line;
} Entry;

/* The entries of a query lie together, and so do its slots: a query's scan stays in the cache. */
typedef struct {
    size_t first, n;
    size_t slots, mask;
} QueryGrades;

typedef struct {
    uint32_t line, first_line;
    size_t start, size, query;
} Repeated;

typedef struct {
    PyObject_HEAD
    Lines lines;
    bool is_three; /* query, document, grade */
    bool has_header;
    bool is_ended;
    bool is_busy;
    Names queries;
    Bytes ids;
    Entry *entries;
    size_t n, capacity;
    size_t query; /* of the last line */
    QueryGrades *by_query;
    uint32_t *slots; /* place within the query + 1, or 0 */
    Repeated *repeated;
    size_t n_repeated, repeated_capacity;
} Table;

static Status add_entry(Table *table, const Byte *docid, size_t size, int32_t grade)
{
    if (table->n >= MOST_ROWS || size > UINT32_MAX || table->lines.n_lines > UINT32_MAX)
        return REFUSED;
    TRY(RESERVE(table->entries, table->capacity, table->n + 1));
    table->entries[table->n++] = (Entry){
        .start = table->ids.size,
        .size = (uint32_t)size,
        .hash = (uint32_t)(hash_of(docid, size) >> 32),
        .grade = grade,
        .query = (uint32_t)table->query,
        .line = (uint32_t)table->lines.n_lines,
    };
    return append(&table->ids, docid, size);
}

static Status enter_query(Table *table, const Byte *qid, size_t size)
{
    Names *queries = &table->queries;
    if (queries->n && are_equal(name_at(queries, table->query),
                                queries->names[table->query].size, qid, size))
        return FINE;
    uint64_t hash = hash_of(qid, size);
    table->query = find_name(queries, qid, size, hash);
    if (table->query != NOWHERE)
        return FINE;
    TRY(add_name(queries, qid, size, hash));
    table->query = queries->n - 1;
    return FINE;
}

static Status take_grade(void *scanner, const Byte **at)
{
    Table *table = scanner;
    const Byte *qid = past_margin(*at), *p;
    if (*qid == '\n' || *qid == '#') {
        *at = past_line(qid);
        return FINE;
    }
    if (table->has_header) {
        table->has_header = false;
        *at = past_rest(qid);
        return *at ? FINE : REFUSED;
    }
    const Byte *qid_end = token_end(qid), *docid = next_token(qid_end);
    if (docid && !table->is_three)
        docid = next_token(token_end(docid));
    if (!docid)
        return REFUSED;
    const Byte *docid_end = token_end(docid);
    int32_t grade;
    if (!(p = next_token(docid_end)) || !take_whole(&p, &grade))
        return REFUSED;
    p = past_margin(p);
    if (*p != '\n')
        return REFUSED;
    *at = p + 1;
    TRY(enter_query(table, qid, (size_t)(qid_end - qid)));
    return add_entry(table, docid, (size_t)(docid_end - docid), grade);
}

/* Puts the entries of each query together, in the order of the file. */
static Status group_entries(Table *table)
{
    bool is_grouped = true;
    size_t n_queries = table->queries.n, first = 0;
    for (size_t i = 0; i < table->n; i++) {
        table->by_query[table->entries[i].query].n++;
        is_grouped &= !i || table->entries[i - 1].query <= table->entries[i].query;
    }
    for (size_t q = 0; q < n_queries; q++) {
        table->by_query[q].first = first;
        first += table->by_query[q].n;
    }
    if (is_grouped)
        return FINE;
    Entry *grouped = malloc(table->n * sizeof *grouped);
    size_t *next = malloc(n_queries * sizeof *next);
    if (!grouped || !next) {
        free(grouped);
        free(next);
        return NO_MEMORY;
    }
    for (size_t q = 0; q < n_queries; q++)
        next[q] = table->by_query[q].first;
    for (size_t i = 0; i < table->n; i++)
        grouped[next[table->entries[i].query]++] = table->entries[i];
    free(next);
    free(table->entries);
    table->entries = grouped;
    table->capacity = table->n;
    return FINE;
}

/* The slot of a document of a query: its own, or the free one where it would be. */
static uint32_t *slot_of(const Table *table, const QueryGrades *of, const Byte *docid, size_t size,
                         uint32_t hash)
{
    size_t slot = hash & of->mask;
    for (;; slot = (slot + 1) & of->mask) {
        uint32_t *place = &table->slots[of->slots + slot];
        if (!*place)
            return place;
        const Entry *entry = &table->entries[of->first + *place - 1];
        if (entry->hash == hash && are_equal(table->ids.data + entry->start, entry->size, docid, size))
            return place;
    }
}

static Status note_repeated(Table *table, const Entry *entry, const Entry *first)
{
    TRY(RESERVE(table->repeated, table->repeated_capacity, table->n_repeated + 1));
    table->repeated[table->n_repeated++] =
        (Repeated){entry->line, first->line, entry->start, entry->size, entry->query};
    return FINE;
}

/* Fills a query's slots; a second row of a document is left out if the grade is the same. */
static Status fill_slots(Table *table, QueryGrades *of)
{
    size_t kept = 0, n = of->n;
    for (size_t i = 0; i < n; i++) {
        Entry entry = table->entries[of->first + i];
        const Byte *docid = table->ids.data + entry.start;
        uint32_t *slot = slot_of(table, of, docid, entry.size, entry.hash);
        if (*slot) {
            const Entry *first = &table->entries[of->first + *slot - 1];
            if (first->grade != entry.grade)
                return REFUSED;
            TRY(note_repeated(table, &entry, first));
            continue;
        }
        table->entries[of->first + kept++] = entry;
        *slot = (uint32_t)kept;
    }
    of->n = kept;
    return FINE;
}

static Status compile_table(Table *table)
{
    size_t n_slots = 0;
    table->by_query = calloc(table->queries.n + 1, sizeof *table->by_query);
    if (!table->by_query)
        return NO_MEMORY;
    TRY(group_entries(table));
    for (size_t q = 0; q < table->queries.n; q++) {
        QueryGrades *of = &table->by_query[q];
        size_t wanted = 2;
        while (wanted < of->n * 2)
            wanted *= 2;
        of->slots = n_slots;
        of->mask = wanted - 1;
        n_slots += wanted;
    }
    table->slots = calloc(n_slots + 1, sizeof *table->slots);
    if (!table->slots)
        return NO_MEMORY;
    for (size_t q = 0; q < table->queries.n; q++)
        TRY(fill_slots(table, &table->by_query[q]));
    return FINE;
}

/* --- queries of a run ----------------------------------------------------------------------- */

typedef enum { TIES_TREC = 0, TIES_TREC9, TIES_ASCENDING, TIES_FILE, TIES_EXPECTED } TieRule;

typedef struct {
    uint32_t place; /* in the query, from 0; later the rank, from 1 */
    int32_t grade;
} Found;

typedef struct {
    size_t first, size;
} Group;

typedef struct {
    double score;
    uint32_t place;
} Place;

/* The rows of one query so far. */
typedef struct {
    size_t name; /* in the scanner's names */
    const QueryGrades *grades; /* or NULL where the qrels lack the query */
    size_t n;
    double *scores;
    size_t scores_capacity;
    uint64_t *hashes;
    size_t hashes_capacity;
    size_t *ends; /* of the docids in `ids` */
    size_t ends_capacity;
    Bytes ids;
    uint32_t *slots; /* place + 1 of each docid, or 0 */
    size_t n_slots, slots_capacity;
    Found *found;
    size_t n_found, found_capacity;
    bool is_descending;
    bool has_rank; /* of an earlier row */
    int32_t last_rank;
    double last_score;
} Query;

typedef struct {
    size_t name, n_retrieved;
    size_t first_hit, n_hits, first_group, n_groups;
} Result;

typedef struct {
    bool is_there;
    size_t line;
    int32_t rank, last_rank;
    double score, last_score;
} Contradiction;

typedef struct {
    PyObject_HEAD
    Lines lines;
    Table *table;
    TieRule ties;
    size_t depth;
    bool is_three; /* query, document, rank */
    bool is_kept;  /* every query until the end */
    bool may_ask;
    bool is_ended, is_busy;
    Names names;
    Query **queries; /* one for each name if kept, otherwise one in all */
    size_t n_queries, queries_capacity;
    Query *current;
    Byte prefix[LONGEST_PREFIX]; /* of the last line, up to its docid */
    size_t prefix_size;
    size_t line_without_tag;
    Contradiction contradiction;
    Result *results;
    size_t n_results, results_capacity;
    Found *hits;
    size_t n_hits, hits_capacity;
    Group *groups;
    size_t n_groups, groups_capacity;
    Place *sorted, *spare; /* of the query being ended */
    size_t sorted_capacity, spare_capacity;
} Scanner;

static const Byte *docid_at(const Query *query, size_t place, size_t *size)
{
    size_t start = place ? query->ends[place - 1] : 0;
    *size = query->ends[place] - start;
    return query->ids.data + start;
}

static void free_query(Query *query)
{
    if (!query)
        return;
    free(query->scores);
    free(query->hashes);
    free(query->ends);
    free(query->ids.data);
    free(query->slots);
    free(query->found);
    free(query);
}

static Status resize_slots(Query *query, size_t wanted)
{
    TRY(RESERVE(query->slots, query->slots_capacity, wanted));
    memset(query->slots, 0, wanted * sizeof *query->slots);
    query->n_slots = wanted;
    for (size_t place = 0; place < query->n; place++) {
        size_t slot = query->hashes[place] & (wanted - 1);
        while (query->slots[slot])
            slot = (slot + 1) & (wanted - 1);
        query->slots[slot] = (uint32_t)(place + 1);
    }
    return FINE;
}

/* Empties a query for the next one. Runs are as deep for one query as for another, so the slots of
 * the last one are the right number. */
static Status reset_query(Query *query, size_t name, const QueryGrades *grades)
{
    size_t wanted = 16;
    while (wanted < query->n * 4)
        wanted *= 2;
    query->name = name;
    query->grades = grades;
    query->n = query->n_found = query->ids.size = 0;
    query->is_descending = true;
    query->has_rank = false;
    return resize_slots(query, wanted);
}

/* Remembers a docid; REFUSED where the query has it already. */
static Status remember(Query *query, const Byte *docid, size_t size, uint64_t hash)
{
    if (query->n >= MOST_ROWS)
        return REFUSED;
    if ((query->n + 1) * 2 > query->n_slots)
        TRY(resize_slots(query, query->n_slots * 2));
    size_t slot = hash & (query->n_slots - 1);
    for (; query->slots[slot]; slot = (slot + 1) & (query->n_slots - 1)) {
        size_t place = query->slots[slot] - 1, known_size;
        if (query->hashes[place] != hash)
            continue;
        const Byte *known = docid_at(query, place, &known_size);
        if (are_equal(known, known_size, docid, size))
            return REFUSED;
    }
    TRY(RESERVE(query->scores, query->scores_capacity, query->n + 1));
    TRY(RESERVE(query->hashes, query->hashes_capacity, query->n + 1));
    TRY(RESERVE(query->ends, query->ends_capacity, query->n + 1));
    TRY(append(&query->ids, docid, size));
    query->slots[slot] = (uint32_t)(query->n + 1);
    query->hashes[query->n] = hash;
    query->ends[query->n] = query->ids.size;
    return FINE;
}

static Status look_up(const Scanner *scanner, Query *query, const Byte *docid, size_t size,
                      uint64_t hash)
{
    const QueryGrades *of = query->grades;
    uint32_t place = *slot_of(scanner->table, of, docid, size, (uint32_t)(hash >> 32));
    if (!place)
        return FINE;
    TRY(RESERVE(query->found, query->found_capacity, query->n_found + 1));
    query->found[query->n_found++] =
        (Found){(uint32_t)query->n, scanner->table->entries[of->first + place - 1].grade};
    return FINE;
}

static Status add_result(const Scanner *scanner, Query *query, const Byte *docid, size_t size,
                         double score)
{
    uint64_t hash = hash_of(docid, size);
    TRY(remember(query, docid, size, hash));
    if (query->grades)
        TRY(look_up(scanner, query, docid, size, hash));
    if (scanner->ties == TIES_TREC9)
        score = (double)(float)score;
    query->is_descending &= !query->n || score <= query->scores[query->n - 1];
    query->scores[query->n++] = score;
    return FINE;
}

/* --- ranks ---------------------------------------------------------------------------------- */

/* Best first, rows of one score as they were: a merge sort from below. */
static Place *sort_places(Place *from, Place *to, size_t n)
{
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t left = low, middle = low + width < n ? low + width : n;
            size_t right = middle, high = middle + width < n ? middle + width : n;
            for (size_t i = low; i < high; i++) {
                bool is_left = left < middle && (right >= high || from[left].score >= from[right].score);
                to[i] = is_left ? from[left++] : from[right++];
            }
        }
        Place *swapped = from;
        from = to;
        to = swapped;
    }
    return from;
}

/* Whether the document at one place stands before that at another of the same score. */
static bool is_before(const Query *query, TieRule ties, size_t one, size_t other)
{
    size_t one_size, other_size;
    if (ties == TIES_FILE)
        return one < other;
    const Byte *docid = docid_at(query, one, &one_size);
    const Byte *against = docid_at(query, other, &other_size);
    int order = compare(docid, one_size, against, other_size);
    return ties == TIES_ASCENDING ? order < 0 : order > 0;
}

/* The same merge sort by the tie rule, for a large group of one score. */
static void sort_group(const Query *query, TieRule ties, Place *places, Place *spare, size_t n)
{
    Place *from = places, *to = spare;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t left = low, middle = low + width < n ? low + width : n;
            size_t right = middle, high = middle + width < n ? middle + width : n;
            for (size_t i = low; i < high; i++) {
                bool is_left = left < middle && (right >= high || !is_before(query, ties, from[right].place, from[left].place));
                to[i] = is_left ? from[left++] : from[right++];
            }
        }
        Place *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != places)
        memcpy(places, from, n * sizeof *places);
}

typedef struct {
    size_t first, size, n_before;
} Standing;

/* One pass over the query for one hit: nothing is sorted where hits are few. */
static Standing counted(const Query *query, TieRule ties, size_t place)
{
    double score = query->scores[place];
    size_t n_better = 0, n_equal = 0, n_before = 0;
    for (size_t i = 0; i < query->n; i++) {
        n_better += query->scores[i] > score;
        n_equal += query->scores[i] == score;
    }
    for (size_t i = 0; n_equal > 1 && i < query->n; i++)
        if (query->scores[i] == score && i != place)
            n_before += is_before(query, ties, i, place);
    return (Standing){n_better, n_equal, n_before};
}

static Status note_group(Scanner *scanner, Group group)
{
    TRY(RESERVE(scanner->groups, scanner->groups_capacity, scanner->n_groups + 1));
    scanner->groups[scanner->n_groups++] = group;
    return FINE;
}

static int by_rank(const void *one, const void *other)
{
    uint32_t a = ((const Found *)one)->place, b = ((const Found *)other)->place;
    return (a > b) - (a < b);
}

static int by_first(const void *one, const void *other)
{
    size_t a = ((const Group *)one)->first, b = ((const Group *)other)->first;
    return (a > b) - (a < b);
}

static Status rank_by_counting(Scanner *scanner, Query *query)
{
    for (size_t i = 0; i < query->n_found; i++) {
        Standing at = counted(query, scanner->ties, query->found[i].place);
        query->found[i].place = (uint32_t)(at.first + at.n_before + 1);
        if (scanner->ties == TIES_EXPECTED && at.size > 1)
            TRY(note_group(scanner, (Group){at.first + 1, at.size}));
    }
    return FINE;
}

/* Marks which places are hits, sorts all, and reads the ranks off. */
static Status rank_by_sorting(Scanner *scanner, Query *query)
{
    size_t n = query->n, n_ranked = 0;
    TRY(RESERVE(scanner->sorted, scanner->sorted_capacity, n));
    TRY(RESERVE(scanner->spare, scanner->spare_capacity, n));
    int32_t *grades = malloc(n * sizeof *grades);
    bool *is_hit = calloc(n, sizeof *is_hit);
    if (!grades || !is_hit) {
        free(grades);
        free(is_hit);
        return NO_MEMORY;
    }
    for (size_t i = 0; i < query->n_found; i++) {
        is_hit[query->found[i].place] = true;
        grades[query->found[i].place] = query->found[i].grade;
    }
    for (size_t i = 0; i < n; i++)
        scanner->sorted[i] = (Place){query->scores[i], (uint32_t)i};
    Place *sorted = scanner->sorted, *spare = scanner->spare;
    if (!query->is_descending) {
        sorted = sort_places(scanner->sorted, scanner->spare, n);
        spare = sorted == scanner->sorted ? scanner->spare : scanner->sorted;
    }
    Status status = FINE;
    for (size_t first = 0, end; first < n && status == FINE; first = end) {
        bool has_hit = false;
        for (end = first; end < n && sorted[end].score == sorted[first].score; end++)
            has_hit |= is_hit[sorted[end].place];
        if (!has_hit)
            continue;
        if (end - first > 1 && scanner->ties != TIES_FILE)
            sort_group(query, scanner->ties, sorted + first, spare, end - first);
        for (size_t i = first; i < end; i++)
            if (is_hit[sorted[i].place])
                query->found[n_ranked++] = (Found){(uint32_t)(i + 1), grades[sorted[i].place]};
        if (scanner->ties == TIES_EXPECTED && end - first > 1)
            status = note_group(scanner, (Group){first + 1, end - first});
    }
    free(grades);
    free(is_hit);
    return status;
}

#define FEW 8

/* Turns the places of the hits into ranks. */
static Status rank_hits(Scanner *scanner, Query *query)
{
    bool has_ties = false;
    if (query->is_descending) {
        for (size_t i = 1; i < query->n && !has_ties; i++)
            has_ties = query->scores[i] == query->scores[i - 1];
        if (!has_ties || scanner->ties == TIES_FILE) {
            for (size_t i = 0; i < query->n_found; i++)
                query->found[i].place++;
            return FINE;
        }
    }
    if (query->n_found > FEW)
        return rank_by_sorting(scanner, query);
    size_t first_group = scanner->n_groups, kept = first_group;
    TRY(rank_by_counting(scanner, query));
    if (query->n_found > 1)
        qsort(query->found, query->n_found, sizeof *query->found, by_rank);
    if (scanner->n_groups - first_group > 1)
        qsort(scanner->groups + first_group, scanner->n_groups - first_group,
              sizeof *scanner->groups, by_first);
    for (size_t i = first_group; i < scanner->n_groups; i++)
        if (i == first_group || scanner->groups[i].first != scanner->groups[kept - 1].first)
            scanner->groups[kept++] = scanner->groups[i];
    scanner->n_groups = kept;
    return FINE;
}

static Status end_query(Scanner *scanner, Query *query)
{
    size_t first_group = scanner->n_groups, first_hit = scanner->n_hits;
    if (query->n_found)
        TRY(rank_hits(scanner, query));
    TRY(RESERVE(scanner->hits, scanner->hits_capacity, scanner->n_hits + query->n_found));
    for (size_t i = 0; i < query->n_found && query->found[i].place <= scanner->depth; i++)
        scanner->hits[scanner->n_hits++] = query->found[i];
    TRY(RESERVE(scanner->results, scanner->results_capacity, scanner->n_results + 1));
    scanner->results[scanner->n_results++] = (Result){
        .name = query->name,
        .n_retrieved = query->n < scanner->depth ? query->n : scanner->depth,
        .first_hit = first_hit,
        .n_hits = scanner->n_hits - first_hit,
        .first_group = first_group,
        .n_groups = scanner->n_groups - first_group,
    };
    return FINE;
}

/* --- lines of a run ------------------------------------------------------------------------- */

static Status new_query(Scanner *scanner)
{
    TRY(RESERVE(scanner->queries, scanner->queries_capacity, scanner->n_queries + 1));
    scanner->current = calloc(1, sizeof *scanner->current);
    if (!scanner->current)
        return NO_MEMORY;
    scanner->queries[scanner->n_queries++] = scanner->current;
    return FINE;
}

static Status come_to_query(Scanner *scanner, const Byte *qid, size_t size)
{
    Names *names = &scanner->names;
    if (scanner->current && are_equal(name_at(names, scanner->current->name),
                                      names->names[scanner->current->name].size, qid, size))
        return FINE;
    uint64_t hash = hash_of(qid, size);
    size_t known = find_name(names, qid, size, hash);
    if (known != NOWHERE) {
        if (!scanner->is_kept)
            return INTERLEAVED;
        scanner->current = scanner->queries[known];
        return FINE;
    }
    if (scanner->current && !scanner->is_kept)
        TRY(end_query(scanner, scanner->current));
    TRY(add_name(names, qid, size, hash));
    if (!scanner->current || scanner->is_kept)
        TRY(new_query(scanner));
    size_t judged = find_name(&scanner->table->queries, qid, size, hash);
    const QueryGrades *grades = judged == NOWHERE ? NULL : &scanner->table->by_query[judged];
    return reset_query(scanner->current, names->n - 1, grades);
}

static void see_rank(Scanner *scanner, Query *query, int32_t rank, double score)
{
    Contradiction *found = &scanner->contradiction;
    if (query->has_rank && !found->is_there &&
        ((rank > query->last_rank && score > query->last_score) ||
         (rank < query->last_rank && score < query->last_score)))
        *found = (Contradiction){true,  scanner->lines.n_lines, rank, query->last_rank,
                                 score, query->last_score};
    query->has_rank = true;
    query->last_rank = rank;
    query->last_score = score;
}

/* Lines of a query mostly begin alike: what stands before the docid is then not read again. */
static void remember_prefix(Scanner *scanner, const Byte *line, const Byte *qid, const Byte *docid)
{
    size_t size = (size_t)(docid - line);
    scanner->prefix_size = 0;
    if (size > LONGEST_PREFIX || memchr(line, '\r', (size_t)(qid - line)))
        return;
    memcpy(scanner->prefix, line, size);
    scanner->prefix_size = size;
}

static bool has_prefix(const Scanner *scanner, const Byte *line)
{
    size_t size = scanner->prefix_size;
    return size && (size_t)(scanner->lines.stop - line) > size &&
           memcmp(line, scanner->prefix, size) == 0 && !ENDS[line[size]];
}

static Status take_document_and_rank(Scanner *scanner, const Byte **at, const Byte *docid)
{
    int32_t rank;
    const Byte *end = token_end(docid), *p = next_token(end);
    if (!p || !take_whole(&p, &rank))
        return REFUSED;
    p = past_margin(p);
    if (*p != '\n')
        return REFUSED;
    *at = p + 1;
    return add_result(scanner, scanner->current, docid, (size_t)(end - docid), -(double)rank);
}

static Status take_result(Scanner *scanner, const Byte **at, const Byte *docid)
{
    int32_t rank;
    double score;
    const Byte *end = token_end(docid), *p = next_token(end);
    if (!p)
        return REFUSED;
    bool has_rank = take_whole(&p, &rank);
    p = next_token(p);
    if (!p || !take_score(&p, scanner->may_ask, &score))
        return REFUSED;
    const Byte *tag = next_token(p);
    if (!tag && !scanner->line_without_tag)
        scanner->line_without_tag = scanner->lines.n_lines;
    *at = past_rest(tag ? tag : p);
    if (!*at)
        return REFUSED;
    TRY(add_result(scanner, scanner->current, docid, (size_t)(end - docid), score));
    if (has_rank)
        see_rank(scanner, scanner->current, rank, score);
    return FINE;
}

static Status take_run_line(void *given, const Byte **at)
{
    Scanner *scanner = given;
    const Byte *line = *at, *docid;
    if (has_prefix(scanner, line)) {
        docid = line + scanner->prefix_size;
    } else {
        const Byte *qid = past_margin(line);
        if (*qid == '\n' || *qid == '#') {
            *at = past_line(qid);
            return FINE;
        }
        const Byte *end = token_end(qid);
        docid = next_token(end);
        if (docid && !scanner->is_three)
            docid = next_token(token_end(docid));
        if (!docid)
            return REFUSED;
        TRY(come_to_query(scanner, qid, (size_t)(end - qid)));
        remember_prefix(scanner, line, qid, docid);
    }
    return scanner->is_three ? take_document_and_rank(scanner, at, docid)
                             : take_result(scanner, at, docid);
}

static Status end_run(Scanner *scanner)
{
    TRY(end_lines(&scanner->lines, take_run_line, scanner));
    for (size_t i = 0; i < scanner->n_queries; i++)
        TRY(end_query(scanner, scanner->queries[i]));
    return FINE;
}

/* --- what Python sees ----------------------------------------------------------------------- */

static PyObject *told(Status status)
{
    return status == NO_MEMORY ? PyErr_NoMemory() : PyLong_FromLong(status);
}

static PyObject *used_wrongly(const char *what)
{
    PyErr_SetString(PyExc_RuntimeError, what);
    return NULL;
}

static PyObject *bytes_of_name(const Names *names, size_t place)
{
    return PyBytes_FromStringAndSize((const char *)name_at(names, place),
                                     (Py_ssize_t)names->names[place].size);
}

/* Scans a block without the lock. `is_busy` is read and written only with it. */
static PyObject *feed_block(Lines *lines, bool *is_busy, bool is_ended, PyObject *block,
                            TakeLine take, void *scanner)
{
    Py_buffer view;
    if (*is_busy || is_ended)
        return used_wrongly(*is_busy ? "fed by two threads at once" : "fed after its end");
    if (PyObject_GetBuffer(block, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    if (lines->status == FINE && view.len) {
        *is_busy = true;
        Py_BEGIN_ALLOW_THREADS
        lines->status = feed_lines(lines, view.buf, (size_t)view.len, take, scanner);
        Py_END_ALLOW_THREADS
        *is_busy = false;
    }
    PyBuffer_Release(&view);
    return told(lines->status);
}

static void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *allocated(PyTypeObject *type)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

/* Table */

static PyObject *table_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    static char *names[] = {"is_three", "has_header", NULL};
    int is_three = 0, has_header = 0;
    if (!PyArg_ParseTupleAndKeywords(args, options, "|$pp:Table", names, &is_three, &has_header))
        return NULL;
    Table *table = (Table *)allocated(type);
    if (!table)
        return NULL;
    table->is_three = is_three;
    table->has_header = has_header;
    table->lines.may_mark = true;
    return (PyObject *)table;
}

static void table_dealloc(PyObject *self)
{
    Table *table = (Table *)self;
    free(table->lines.carried.data);
    free_names(&table->queries);
    free(table->ids.data);
    free(table->entries);
    free(table->by_query);
    free(table->slots);
    free(table->repeated);
    free_object(self);
}

static PyObject *table_feed(PyObject *self, PyObject *block)
{
    Table *table = (Table *)self;
    return feed_block(&table->lines, &table->is_busy, table->is_ended, block, take_grade, table);
}

/* 1 where it was added, 0 where a value is not for here, -1 with an exception set. */
static int add_document(Table *table, PyObject *docid, PyObject *grade)
{
    char *text;
    Py_ssize_t size;
    int has_overflown;
    if (!PyBytes_Check(docid) || !PyLong_Check(grade))
        return 0;
    long value = PyLong_AsLongAndOverflow(grade, &has_overflown);
    if (has_overflown || value > INT32_MAX || value < INT32_MIN)
        return 0;
    if (PyBytes_AsStringAndSize(docid, &text, &size) < 0)
        return -1;
    Status status = add_entry(table, (const Byte *)text, (size_t)size, (int32_t)value);
    if (status == NO_MEMORY)
        PyErr_NoMemory();
    return status == FINE ? 1 : status == REFUSED ? 0 : -1;
}

static PyObject *table_add(PyObject *self, PyObject *args)
{
    Table *table = (Table *)self;
    PyObject *qid, *grades, *docid, *grade;
    char *text;
    Py_ssize_t size, place = 0;
    if (!PyArg_ParseTuple(args, "SO:add", &qid, &grades))
        return NULL;
    if (table->is_ended || table->is_busy)
        return used_wrongly("added to after its end");
    if (!PyDict_Check(grades))
        return PyErr_SetString(PyExc_TypeError, "grades: expected a dict"), NULL;
    if (PyBytes_AsStringAndSize(qid, &text, &size) < 0)
        return NULL;
    Status status = enter_query(table, (const Byte *)text, (size_t)size);
    if (status != FINE)
        return told(status);
    while (PyDict_Next(grades, &place, &docid, &grade)) {
        int is_added = add_document(table, docid, grade);
        if (is_added < 0)
            return NULL;
        if (!is_added)
            return told(REFUSED);
    }
    return told(FINE);
}

static PyObject *table_end(PyObject *self, PyObject *unused)
{
    Table *table = (Table *)self;
    Status status = table->lines.status;
    if (table->is_busy || table->is_ended)
        return used_wrongly("ended twice, or while it was fed");
    table->is_ended = true;
    if (status == FINE) {
        table->is_busy = true;
        Py_BEGIN_ALLOW_THREADS
        status = end_lines(&table->lines, take_grade, table);
        if (status == FINE)
            status = compile_table(table);
        Py_END_ALLOW_THREADS
        table->is_busy = false;
        table->lines.status = status;
    }
    return told(status);
}

static bool is_ready(const Table *table)
{
    return table->is_ended && !table->is_busy && table->lines.status == FINE;
}

static PyObject *table_notes(PyObject *self, PyObject *unused)
{
    Table *table = (Table *)self;
    if (!is_ready(table))
        return used_wrongly("asked before its end");
    PyObject *repeated = PyList_New(0);
    for (size_t i = 0; repeated && i < table->n_repeated; i++) {
        const Repeated *one = &table->repeated[i];
        PyObject *row = Py_BuildValue(
            "(IINy#)", one->line, one->first_line, bytes_of_name(&table->queries, one->query),
            (const char *)table->ids.data + one->start, (Py_ssize_t)one->size);
        if (!row || PyList_Append(repeated, row) < 0)
            Py_CLEAR(repeated);
        Py_XDECREF(row);
    }
    return repeated ? Py_BuildValue("(NN)", PyBool_FromLong(table->lines.has_mark), repeated) : NULL;
}

/* A value for each query, by its id. */
static PyObject *by_query(Table *table, PyObject *(*value_of)(Table *, const QueryGrades *))
{
    if (!is_ready(table))
        return used_wrongly("asked before its end");
    PyObject *found = PyDict_New();
    for (size_t q = 0; found && q < table->queries.n; q++) {
        PyObject *qid = bytes_of_name(&table->queries, q);
        PyObject *value = qid ? value_of(table, &table->by_query[q]) : NULL;
        if (!value || PyDict_SetItem(found, qid, value) < 0)
            Py_CLEAR(found);
        Py_XDECREF(qid);
        Py_XDECREF(value);
    }
    return found;
}

static PyObject *documents_of(Table *table, const QueryGrades *of)
{
    PyObject *documents = PyDict_New();
    for (size_t i = 0; documents && i < of->n; i++) {
        const Entry *entry = &table->entries[of->first + i];
        PyObject *docid = PyBytes_FromStringAndSize((const char *)table->ids.data + entry->start,
                                                    (Py_ssize_t)entry->size);
        PyObject *grade = PyLong_FromLong(entry->grade);
        if (!docid || !grade || PyDict_SetItem(documents, docid, grade) < 0)
            Py_CLEAR(documents);
        Py_XDECREF(docid);
        Py_XDECREF(grade);
    }
    return documents;
}

static PyObject *grades_of(Table *table, const QueryGrades *of)
{
    PyObject *grades = PyTuple_New((Py_ssize_t)of->n);
    for (size_t i = 0; grades && i < of->n; i++) {
        PyObject *grade = PyLong_FromLong(table->entries[of->first + i].grade);
        if (!grade || PyTuple_SetItem(grades, (Py_ssize_t)i, grade) < 0)
            Py_CLEAR(grades);
    }
    return grades;
}

static PyObject *table_documents(PyObject *self, PyObject *unused)
{
    return by_query((Table *)self, documents_of);
}

static PyObject *table_grades(PyObject *self, PyObject *unused)
{
    return by_query((Table *)self, grades_of);
}

static PyMethodDef TABLE_METHODS[] = {
    {"feed", table_feed, METH_O, "feed(block) -> status\n\nScan the next bytes of a qrels file."},
    {"add", table_add, METH_VARARGS, "add(qid, grades) -> status\n\nTake a dict of grades."},
    {"end", table_end, METH_NOARGS, "end() -> status\n\nMake it ready for scanners."},
    {"notes", table_notes, METH_NOARGS,
     "notes() -> (has byte order mark, [(line, first line, qid, docid)] of repeated rows)"},
    {"documents", table_documents, METH_NOARGS, "documents() -> {qid: {docid: grade}}"},
    {"grades", table_grades, METH_NOARGS, "grades() -> {qid: (grade, ...)}"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot TABLE_SLOTS[] = {
    {Py_tp_doc, "Qrels, ready to be looked up. Fed with a file's blocks, or added to; then ended."},
    {Py_tp_new, table_new},
    {Py_tp_dealloc, table_dealloc},
    {Py_tp_methods, TABLE_METHODS},
    {0, NULL},
};

static PyType_Spec TABLE_SPEC = {
    .name = "benchwright.reading._scanner.Table",
    .basicsize = sizeof(Table),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = TABLE_SLOTS,
};

/* Scanner */

static PyObject *scanner_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    static char *names[] = {"table", "ties", "depth", "is_three", "is_kept", "is_start", NULL};
    PyObject *given;
    int ties, is_three, is_kept, is_start;
    Py_ssize_t depth;
    if (!PyArg_ParseTupleAndKeywords(args, options, "Oinppp:Scanner", names, &given, &ties, &depth,
                                     &is_three, &is_kept, &is_start))
        return NULL;
    PyObject *module = PyType_GetModule(type);
    PyObject *table_type = module ? PyObject_GetAttrString(module, "Table") : NULL;
    if (!table_type)
        return NULL;
    int is_table = PyObject_IsInstance(given, table_type);
    Py_DECREF(table_type);
    if (is_table < 0)
        return NULL;
    if (!is_table || !is_ready((Table *)given))
        return PyErr_SetString(PyExc_TypeError, "table: expected a Table that is ended"), NULL;
    if (ties < TIES_TREC || ties > TIES_EXPECTED || depth < 0)
        return PyErr_SetString(PyExc_ValueError, "ties or depth out of range"), NULL;
    Scanner *scanner = (Scanner *)allocated(type);
    if (!scanner)
        return NULL;
    Py_INCREF(given);
    scanner->table = (Table *)given;
    scanner->ties = (TieRule)ties;
    scanner->depth = depth ? (size_t)depth : SIZE_MAX;
    scanner->is_three = is_three;
    scanner->is_kept = is_kept;
    scanner->lines.may_mark = is_start;
    scanner->may_ask = strcmp(localeconv()->decimal_point, ".") == 0;
    return (PyObject *)scanner;
}

static void scanner_dealloc(PyObject *self)
{
    Scanner *scanner = (Scanner *)self;
    free(scanner->lines.carried.data);
    free_names(&scanner->names);
    for (size_t i = 0; i < scanner->n_queries; i++)
        free_query(scanner->queries[i]);
    free(scanner->queries);
    free(scanner->results);
    free(scanner->hits);
    free(scanner->groups);
    free(scanner->sorted);
    free(scanner->spare);
    Py_XDECREF((PyObject *)scanner->table);
    free_object(self);
}

static PyObject *scanner_feed(PyObject *self, PyObject *block)
{
    Scanner *scanner = (Scanner *)self;
    return feed_block(&scanner->lines, &scanner->is_busy, scanner->is_ended, block, take_run_line,
                      scanner);
}

static PyObject *scanner_end(PyObject *self, PyObject *unused)
{
    Scanner *scanner = (Scanner *)self;
    Status status = scanner->lines.status;
    if (scanner->is_busy || scanner->is_ended)
        return used_wrongly("ended twice, or while it was fed");
    scanner->is_ended = true;
    if (status == FINE) {
        scanner->is_busy = true;
        Py_BEGIN_ALLOW_THREADS
        status = end_run(scanner);
        Py_END_ALLOW_THREADS
        scanner->is_busy = false;
        scanner->lines.status = status;
    }
    return told(status);
}

static bool is_scanned(const Scanner *scanner)
{
    return scanner->is_ended && !scanner->is_busy && scanner->lines.status == FINE;
}

static PyObject *scanner_notes(PyObject *self, PyObject *unused)
{
    Scanner *scanner = (Scanner *)self;
    const Contradiction *found = &scanner->contradiction;
    if (!is_scanned(scanner))
        return used_wrongly("asked before its end");
    PyObject *ranks = found->is_there
                          ? Py_BuildValue("(nidid)", (Py_ssize_t)found->line, (int)found->rank,
                                          found->score, (int)found->last_rank, found->last_score)
                          : Py_BuildValue("");
    return Py_BuildValue("(nNnN)", (Py_ssize_t)scanner->lines.n_lines,
                         PyBool_FromLong(scanner->lines.has_mark),
                         (Py_ssize_t)scanner->line_without_tag, ranks);
}

/* An instance of a named tuple of two numbers, which is a tuple underneath. */
static PyObject *pair(PyTypeObject *type, allocfunc allocate, PyObject *one, PyObject *other)
{
    PyObject *made = one && other ? allocate(type, 2) : NULL;
    if (!made) {
        Py_XDECREF(one);
        Py_XDECREF(other);
        return NULL;
    }
    PyTuple_SetItem(made, 0, one); /* takes the reference, also where it fails */
    PyTuple_SetItem(made, 1, other);
    return made;
}

/* Hits of one rank and grade are one object: there are few different ones, and very many hits. */
#define N_SHARED 8192

typedef struct {
    PyTypeObject *type;
    allocfunc allocate;
    Found of[N_SHARED];
    PyObject *made[N_SHARED];
} SharedHits;

/* A new reference to the hit. */
static PyObject *shared_hit(SharedHits *shared, const Found *hit)
{
    size_t slot = ((size_t)hit->place * 8 + (size_t)(hit->grade & 7)) % N_SHARED;
    PyObject **made = &shared->made[slot];
    if (!*made || shared->of[slot].place != hit->place || shared->of[slot].grade != hit->grade) {
        Py_XDECREF(*made);
        shared->of[slot] = *hit;
        *made = pair(shared->type, shared->allocate, PyLong_FromUnsignedLong(hit->place),
                     PyLong_FromLong(hit->grade));
    }
    Py_XINCREF(*made);
    return *made;
}

static PyObject *hits_of(const Scanner *scanner, const Result *result, SharedHits *shared)
{
    PyObject *hits = PyTuple_New((Py_ssize_t)result->n_hits);
    for (size_t i = 0; hits && i < result->n_hits; i++) {
        PyObject *made = shared_hit(shared, &scanner->hits[result->first_hit + i]);
        if (!made || PyTuple_SetItem(hits, (Py_ssize_t)i, made) < 0)
            Py_CLEAR(hits);
    }
    return hits;
}

static PyObject *groups_of(const Scanner *scanner, const Result *result, PyTypeObject *type)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *groups = PyTuple_New((Py_ssize_t)result->n_groups);
    for (size_t i = 0; groups && i < result->n_groups; i++) {
        const Group *group = &scanner->groups[result->first_group + i];
        PyObject *made = pair(type, allocate, PyLong_FromSize_t(group->first),
                              PyLong_FromSize_t(group->size));
        if (!made || PyTuple_SetItem(groups, (Py_ssize_t)i, made) < 0)
            Py_CLEAR(groups);
    }
    return groups;
}

static PyObject *scanner_results(PyObject *self, PyObject *args)
{
    Scanner *scanner = (Scanner *)self;
    PyTypeObject *hit, *group;
    if (!PyArg_ParseTuple(args, "O!O!:results", &PyType_Type, &hit, &PyType_Type, &group))
        return NULL;
    if (!is_scanned(scanner))
        return used_wrongly("asked before its end");
    if (!PyType_IsSubtype(hit, &PyTuple_Type) || !PyType_IsSubtype(group, &PyTuple_Type))
        return PyErr_SetString(PyExc_TypeError, "expected two classes of named tuples"), NULL;
    SharedHits *shared = calloc(1, sizeof *shared);
    if (!shared)
        return PyErr_NoMemory();
    shared->type = hit;
    shared->allocate = (allocfunc)PyType_GetSlot(hit, Py_tp_alloc);
    PyObject *results = PyList_New((Py_ssize_t)scanner->n_results);
    for (size_t i = 0; results && i < scanner->n_results; i++) {
        const Result *result = &scanner->results[i];
        PyObject *qid = bytes_of_name(&scanner->names, result->name);
        PyObject *hits = qid ? hits_of(scanner, result, shared) : NULL;
        PyObject *groups = hits ? groups_of(scanner, result, group) : NULL;
        PyObject *row = NULL;
        if (groups)
            row = Py_BuildValue("(OOnO)", qid, hits, (Py_ssize_t)result->n_retrieved, groups);
        Py_XDECREF(qid);
        Py_XDECREF(hits);
        Py_XDECREF(groups);
        if (!row || PyList_SetItem(results, (Py_ssize_t)i, row) < 0)
            Py_CLEAR(results);
    }
    for (size_t slot = 0; slot < N_SHARED; slot++)
        Py_XDECREF(shared->made[slot]);
    free(shared);
    return results;
}

static PyObject *scanner_queries(PyObject *self, PyObject *unused)
{
    Scanner *scanner = (Scanner *)self;
    if (!is_scanned(scanner))
        return used_wrongly("asked before its end");
    PyObject *queries = PyList_New((Py_ssize_t)scanner->names.n);
    for (size_t i = 0; queries && i < scanner->names.n; i++) {
        PyObject *qid = bytes_of_name(&scanner->names, i);
        if (!qid || PyList_SetItem(queries, (Py_ssize_t)i, qid) < 0)
            Py_CLEAR(queries);
    }
    return queries;
}

static PyObject *scanner_n_held(PyObject *self, PyObject *unused)
{
    Scanner *scanner = (Scanner *)self;
    size_t n = 0;
    for (size_t i = 0; i < scanner->n_queries; i++)
        n += scanner->queries[i]->n;
    return PyLong_FromSize_t(n);
}

static PyMethodDef SCANNER_METHODS[] = {
    {"feed", scanner_feed, METH_O, "feed(block) -> status\n\nScan the next bytes of a run file."},
    {"end", scanner_end, METH_NOARGS, "end() -> status\n\nRank what is left."},
    {"notes", scanner_notes, METH_NOARGS,
     "notes() -> (lines, has byte order mark, first line without tag or 0,\n"
     "(line, rank, score, last rank, last score) of a contradiction or None)"},
    {"queries", scanner_queries, METH_NOARGS, "queries() -> [qid] by first appearance"},
    {"n_held", scanner_n_held, METH_NOARGS, "n_held() -> rows held in memory, for tests"},
    {"results", scanner_results, METH_VARARGS,
     "results(Hit, TieGroup) -> [(qid, hits, n_retrieved, ties)] by first appearance"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot SCANNER_SLOTS[] = {
    {Py_tp_doc, "A run against a Table. Fed with a file's blocks, then ended."},
    {Py_tp_new, scanner_new},
    {Py_tp_dealloc, scanner_dealloc},
    {Py_tp_methods, SCANNER_METHODS},
    {0, NULL},
};

static PyType_Spec SCANNER_SPEC = {
    .name = "benchwright.reading._scanner.Scanner",
    .basicsize = sizeof(Scanner),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = SCANNER_SLOTS,
};

/* The module */

static PyObject *parsed_score(PyObject *module, PyObject *token)
{
    char *text;
    Py_ssize_t size;
    double score;
    if (PyBytes_AsStringAndSize(token, &text, &size) < 0)
        return NULL;
    Byte *line = malloc((size_t)size + 1);
    if (!line)
        return PyErr_NoMemory();
    memcpy(line, text, (size_t)size);
    line[size] = '\n';
    const Byte *at = line;
    bool is_score = size && take_score(&at, true, &score) && at == line + size;
    free(line);
    return is_score ? PyFloat_FromDouble(score) : Py_BuildValue("");
}

static PyMethodDef METHODS[] = {
    {"parsed_score", parsed_score, METH_O,
     "parsed_score(token) -> float | None\n\nA score as it is read here, for tests."},
    {NULL, NULL, 0, NULL},
};

static int draw_secret(void)
{
    PyObject *os = PyImport_ImportModule("os");
    PyObject *drawn = os ? PyObject_CallMethod(os, "urandom", "i", (int)sizeof secret) : NULL;
    char *bytes;
    Py_ssize_t size;
    Py_XDECREF(os);
    if (!drawn || PyBytes_AsStringAndSize(drawn, &bytes, &size) < 0) {
        Py_XDECREF(drawn);
        return -1;
    }
    memcpy(secret, bytes, sizeof secret);
    secret[1] |= 1;
    Py_DECREF(drawn);
    return 0;
}

static int add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    int added = type ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    return added;
}

static int start_module(PyObject *module)
{
    /* Once a process: hashes of one table must not change under it. */
    if (!secret[1] && draw_secret() < 0)
        return -1;
    if (add_type(module, &TABLE_SPEC) < 0 || add_type(module, &SCANNER_SPEC) < 0)
        return -1;
    if (PyModule_AddIntConstant(module, "FINE", FINE) < 0 ||
        PyModule_AddIntConstant(module, "REFUSED", REFUSED) < 0)
        return -1;
    return PyModule_AddIntConstant(module, "INTERLEAVED", INTERLEAVED);
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, start_module}, {0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT,
    .m_name = "benchwright.reading._scanner",
    .m_doc = "Runs and qrels from their bytes to hits; `benchwright.reading.scanning` calls it.",
    .m_methods = METHODS,
    .m_slots = SLOTS,
};

PyMODINIT_FUNC PyInit__scanner(void)
{
    return PyModuleDef_Init(&MODULE);
}
