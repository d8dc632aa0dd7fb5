"""What goes wrong when a retrieval system is evaluated, and would not show in its scores."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchwright.findings import Finding, Severity
from benchwright.retrieval.errors import EncoderError, IdTypeError, QueriesDifferError
from benchwright.retrieval.sparse.counting import Floats
from benchwright.texts.counting import counted

Retrieved = Mapping[str, Sequence[tuple[str, float]]]
"""Query to its (document, score) pairs, best first."""

Grades = Mapping[str, Mapping[str, int]]
"""Query to the grade of each judged document."""

SHOWN = 3
# How many distinct features queries must have before anything is said of their weights.
FEWEST_FEATURES = 20
FORGOTTEN, DOUBLED = 0.1, 0.5


def refuse_dense_scores(all_retrieved: Any) -> None:
    """Raise where somebody passes a matrix of queries x documents instead of results.

    Raises
    ------
    EncoderError
    """
    shape = getattr(all_retrieved, "shape", None)
    if shape is None:
        return
    size = float(np.prod(shape)) * getattr(getattr(all_retrieved, "dtype", None), "itemsize", 8)
    reason = (
        f"a matrix of {' x '.join(map(str, shape))} scores, {size / 1e6:,.0f} MB if dense, and no "
        "ids; expected {query: [(document, score), ...]}. Search with k instead: it never makes "
        "such a matrix."
    )
    raise EncoderError(method="all_retrieved", reason=reason)


def ids_of_one_type(places: Mapping[str, Iterable[Any]]) -> type:
    """The type of the ids of every place; `str` where there are none.

    Raises
    ------
    IdTypeError
        If one place holds numbers and another text: they would never match.
    """
    types: dict[type, tuple[str, Any]] = {}
    for place, ids in places.items():
        for name in ids:
            types.setdefault(type(name), (place, name))
    if len(types) > 1:
        kind = next(kind for kind in types if kind is not str)
        place, example = types[kind]
        raise IdTypeError(what="ids", found=kind.__name__, where=place, example=repr(example))
    return next(iter(types), str)


def numbers_for_ids() -> Finding:
    return _finding(
        "ids-were-numbers",
        Severity.NOTE,
        "all ids",
        "ids are numbers on both sides and were taken as text.",
        "Ties are broken by the text, where 10 stands before 9. Keep ids as text to see it.",
    )


def overlap(retrieved: Collection[str], graded: Collection[str]) -> list[Finding]:
    """How many queries are on both sides.

    Raises
    ------
    QueriesDifferError
        If none is.
    """
    common = set(retrieved) & set(graded)
    if not common:
        raise QueriesDifferError(
            n_results=len(retrieved),
            n_qrels=len(graded),
            results=_some(retrieved),
            qrels=_some(graded),
        )
    findings = []
    missing = [qid for qid in graded if qid not in common]
    if missing:
        findings.append(
            _finding(
                "queries-without-results",
                Severity.WARNING,
                f"queries {_some(missing)}",
                f"{len(missing)} of the {counted(len(graded), 'query')} of the qrels "
                f"{'has' if len(missing) == 1 else 'have'} no results and "
                f"{'counts' if len(missing) == 1 else 'count'} 0; {len(common)} "
                f"{'has' if len(common) == 1 else 'have'}.",
                "Check that results and qrels are of one split, and that every query was asked.",
                len(missing),
            )
        )
    extra = [qid for qid in retrieved if qid not in common]
    if extra:
        findings.append(
            _finding(
                "queries-without-grades",
                Severity.NOTE,
                f"queries {_some(extra)}",
                f"results of {counted(len(extra), 'query')} that {_are(extra)} not in the qrels "
                "were left out.",
                "Check the split if these are more than expected.",
                len(extra),
            )
        )
    return findings


def unsorted_results(retrieved: Retrieved) -> list[Finding]:
    """Queries whose results do not descend by score."""
    wrong = [
        qid
        for qid, results in retrieved.items()
        if any(earlier[1] < later[1] for earlier, later in pairwise(results))
    ]
    if not wrong:
        return []
    message = f"{len(wrong)} lists of results do not descend by score, and were sorted."
    advice = "Sort before cutting at k, or the best documents may be cut off."
    where = f"queries {_some(wrong)}"
    return [_finding("unsorted-results", Severity.WARNING, where, message, advice, len(wrong))]


def negatives(grades: Grades) -> list[Finding]:
    """Documents with a grade of 0 or below: judged, and never relevant."""
    n = sum(grade <= 0 for documents in grades.values() for grade in documents.values())
    if not n:
        return []
    return [
        _finding(
            "judged-not-relevant",
            Severity.NOTE,
            "the qrels",
            f"grades of 0 or below: {n}. Those documents count as judged, never as relevant.",
            "Nothing to do; collections such as MIRACL come with them.",
            n,
        )
    ]


def without_relevant(grades: Grades) -> list[Finding]:
    """Queries whose every document is not relevant: they count 0 whatever is found."""
    wrong = [qid for qid, of in grades.items() if not any(grade > 0 for grade in of.values())]
    if not wrong:
        return []
    count = "counts" if len(wrong) == 1 else "count"
    queries = counted(len(wrong), "query")
    message = f"no document is relevant: {queries} that {count} 0 for every system."
    advice = "Leave them out of the qrels if they cannot be answered from this corpus."
    where = f"queries {_some(wrong)}"
    return [_finding("queries-without-relevant", Severity.NOTE, where, message, advice, len(wrong))]


def truncated_corpus(grades: Grades, corpus: Collection[str]) -> list[Finding]:
    """Judged documents that the corpus lacks."""
    lacking: dict[str, bool] = {}
    for documents in grades.values():
        for docid, grade in documents.items():
            if docid not in corpus:
                lacking[docid] = lacking.get(docid, False) or grade > 0
    if not lacking:
        return []
    n_relevant = sum(lacking.values())
    return [
        _finding(
            "truncated-corpus",
            Severity.WARNING,
            f"documents {_some(lacking)}",
            f"judged documents that the corpus lacks: {len(lacking)}, {n_relevant} of them "
            "relevant. They cannot be found, and a smaller corpus makes everything else easier.",
            "Use the whole corpus; if it must be cut, keep every document of the qrels.",
            len(lacking),
        )
    ]


def idf_fits(
    documents: csr_array, queries: csr_array, idf: Floats, *, is_used: bool
) -> list[Finding]:
    """Whether rare features weigh more than common ones once, not never and not twice.

    Looks at the rank correlation, over the features of the queries, between what a feature gives
    before any idf (mean weight in queries times mean weight in documents) and its idf.
    """
    features = np.unique(queries.indices)
    features = features[np.isin(features, documents.indices)]
    if len(features) < FEWEST_FEATURES or np.ptp(idf[features]) == 0:
        return []
    products = _mean_weights(queries)[features] * _mean_weights(documents)[features]
    correlation = _rank_correlation(products, idf[features])
    if not is_used and correlation < FORGOTTEN:
        return [_forgotten_idf(correlation)]
    if is_used and correlation > DOUBLED:
        return [_doubled_idf(correlation)]
    return []


def dense_vectors(vectors: Any, what: str) -> list[Finding]:
    """Vectors given as a dense array, zeros and all."""
    if not isinstance(vectors, np.ndarray):
        return []
    message = f"the encoder gave {what} as a dense array of {vectors.nbytes / 1e6:,.1f} MB a batch."
    advice = "Return {dimension: weight} or a scipy sparse matrix: zeros need no memory there."
    return [_finding("dense-vectors", Severity.WARNING, what, message, advice)]


# --- the parts -----------------------------------------------------------------------------------


def _mean_weights(matrix: csr_array) -> Floats:
    width = matrix.shape[1]
    sums = np.bincount(matrix.indices, weights=matrix.data, minlength=width)
    means: Floats = sums / np.maximum(np.bincount(matrix.indices, minlength=width), 1)
    return means


def _rank_correlation(first: Floats, second: Floats) -> float:
    """Spearman's, 0 where one of the two never changes."""
    from scipy.stats import rankdata

    ranks = [rankdata(values) for values in (first, second)]
    if any(np.ptp(of) == 0 for of in ranks):
        return 0.0
    return float(np.corrcoef(*ranks)[0, 1])


def _forgotten_idf(correlation: float) -> Finding:
    return _finding(
        "forgotten-idf",
        Severity.WARNING,
        "the weights",
        "rare features weigh no more than common ones (rank correlation of weight and idf "
        f"{correlation:.2f}), and no idf is used: common words will decide.",
        "Use idf=True for encoders that leave it to the search, as BM25's term weights do.",
    )


def _doubled_idf(correlation: float) -> Finding:
    return _finding(
        "doubled-idf",
        Severity.WARNING,
        "the weights",
        "rare features weigh much more than common ones already (rank correlation of weight and "
        f"idf {correlation:.2f}), and the idf is used on top: rare words will decide.",
        "Use idf=False for encoders whose weights carry it, as SPLADE's do.",
    )


def _finding(
    code: str, severity: Severity, where: str, message: str, advice: str, n: int = 1
) -> Finding:
    return Finding(code, severity, "retrieval", where, message, advice, n)


def _are(ids: Sized) -> str:
    return "is" if len(ids) == 1 else "are"


def _some(ids: Iterable[Any]) -> str:
    names = [str(name) for name in ids]
    cut = ", …" if len(names) > SHOWN else ""
    return ", ".join(f"'{name}'" for name in names[:SHOWN]) + cut
