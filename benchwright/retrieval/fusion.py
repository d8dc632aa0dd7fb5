"""Several rankings of one query as one: by ranks, or by weighted scores.

A ranking is a list of (document id, score), best first, or a mapping of them. Equal fused scores
go by document id as bytes, descending, as everywhere; sums are rounded once (`math.fsum`), so that
two documents with the same parts in another order are equal.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite, sqrt
from types import MappingProxyType
from typing import TypeAlias

from benchwright.errors import CutoffError
from benchwright.files.encodings import as_bytes
from benchwright.retrieval.errors import ParameterError
from benchwright.retrieval.searching import Progress, Result, Searcher

Ranking: TypeAlias = Sequence[tuple[str, float]] | Mapping[str, float]
"""Documents with their scores, best first; a mapping is put in the order of its scores."""

RRF_K = 60
"""The constant of reciprocal rank fusion that its authors found to do well."""

DEPTH = 1000
METHODS = ("rrf", "weighted")

LARGEST_SCORE = 1e150
"""Of weighted scores, whose squares are summed."""


def by_score(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    """Documents with their scores, best first, equal ones by id as bytes, descending.

    Examples
    --------
    >>> by_score({"a": 1.0, "b": 1.0, "c": 2.0})
    [('c', 2.0), ('b', 1.0), ('a', 1.0)]
    """
    rows = [(score, as_bytes(docid), docid) for docid, score in scores.items()]
    return [(docid, score) for score, _, docid in sorted(rows, reverse=True)]


# --- by ranks ------------------------------------------------------------------------------


def reciprocal_rank_fusion(
    rankings: Sequence[Ranking], *, k: float = RRF_K, weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """The sum of weight / (k + rank) over the rankings that hold a document, ranks from 1.

    Scores of the rankings are not looked at, only their order. Weights are 1 unless given.

    From Cormack, Clarke and Büttcher, SIGIR 2009, who take k = 60.

    Examples
    --------
    >>> fused = reciprocal_rank_fusion([[("a", 9.0), ("b", 8.0)], [("b", 0.3)]])
    >>> [(docid, round(score, 6)) for docid, score in fused]
    [('b', 0.032522), ('a', 0.016393)]
    """
    _refuse_constant(k)
    parts: dict[str, list[float]] = {}
    for ranking, weight in zip(rankings, _weights(weights, len(rankings)), strict=True):
        for rank, (docid, _) in enumerate(_ranked(ranking), start=1):
            parts.setdefault(docid, []).append(weight / (k + rank))
    return by_score({docid: fsum(ranks) for docid, ranks in parts.items()})


# --- by scores -----------------------------------------------------------------------------


def min_max(scores: Sequence[float]) -> list[float]:
    """(score - least) / (most - least), in [0, 1]; 1 for all where they are equal."""
    if not scores:
        return []
    least, most = min(scores), max(scores)
    if least == most:
        return [1.0] * len(scores)
    return [(score - least) / (most - least) for score in scores]


def z_scores(scores: Sequence[float]) -> list[float]:
    """(score - mean) / standard deviation (of n, not n - 1); 0 for all where they are equal."""
    if not scores or min(scores) == max(scores):
        return [0.0] * len(scores)
    mean = fsum(scores) / len(scores)
    deviation = sqrt(fsum((score - mean) ** 2 for score in scores) / len(scores))
    return [(score - mean) / deviation for score in scores]


def as_they_are(scores: Sequence[float]) -> list[float]:
    """The scores, for systems that share a scale."""
    return list(scores)


NORMALISATIONS: Mapping[str, Callable[[Sequence[float]], list[float]]] = MappingProxyType(
    {"minmax": min_max, "z": z_scores, "none": as_they_are}
)


def weighted_sum(
    rankings: Sequence[Ranking],
    *,
    weights: Sequence[float] | None = None,
    normalisation: str = "minmax",
) -> list[tuple[str, float]]:
    """The weighted sum of normalised scores, each ranking normalised by itself.

    A document that a ranking lacks counts there as the lowest that it could have: 0 for `minmax`
    and `none`, the ranking's lowest for `z` (0 would be its mean, better than what was retrieved).
    A ranking without any document adds nothing.

    Examples
    --------
    >>> weighted_sum([[("a", 9.0), ("b", 5.0)], [("b", 0.5), ("c", 0.1)]], weights=[1, 3])
    [('b', 3.0), ('a', 1.0), ('c', 0.0)]
    """
    normalise = _normalisation(normalisation)
    ranked = [_ranked(ranking) for ranking in rankings]
    every = {docid for ranking in ranked for docid, _ in ranking}
    parts: dict[str, list[float]] = {docid: [] for docid in every}
    for ranking, weight in zip(ranked, _weights(weights, len(rankings)), strict=True):
        _refuse_scores(ranking)
        values = normalise([score for _, score in ranking])
        scores = {docid: value for (docid, _), value in zip(ranking, values, strict=True)}
        missing = min(values, default=0.0) if normalisation == "z" else 0.0
        for docid in every:
            parts[docid].append(weight * scores.get(docid, missing))
    return by_score({docid: fsum(values) for docid, values in parts.items()})


def _ranked(ranking: Ranking) -> Sequence[tuple[str, float]]:
    """The ranking as rows, of which no document has two: it would count twice, or as its last."""
    if isinstance(ranking, Mapping):
        return by_score(ranking)
    seen: set[str] = set()
    for docid, _ in ranking:
        if docid in seen:
            raise ParameterError(
                name=f"'{docid}' of a ranking", value="there twice", expected="once"
            )
        seen.add(docid)
    return ranking


def _refuse_constant(k: float) -> None:
    if not (isfinite(k) and k >= 0):
        raise ParameterError(name="rrf k", value=k, expected="a number of at least 0")


def _refuse_scores(ranking: Sequence[tuple[str, float]]) -> None:
    for docid, score in ranking:
        if not abs(score) <= LARGEST_SCORE:
            expected = f"a number from -{LARGEST_SCORE:g} to {LARGEST_SCORE:g}"
            raise ParameterError(name=f"the score of '{docid}'", value=score, expected=expected)


def _normalisation(name: str) -> Callable[[Sequence[float]], list[float]]:
    if name not in NORMALISATIONS:
        expected = f"one of {', '.join(NORMALISATIONS)}"
        raise ParameterError(name="normalisation", value=repr(name), expected=expected)
    return NORMALISATIONS[name]


def _weights(weights: Sequence[float] | None, n: int) -> Sequence[float]:
    if weights is None:
        return [1.0] * n
    if len(weights) != n:
        value = f"{len(weights)} numbers"
        raise ParameterError(name="weights", value=value, expected=f"one for each of {n} rankings")
    for weight in weights:
        if not (isfinite(weight) and weight >= 0):
            raise ParameterError(name="a weight", value=weight, expected="a number of at least 0")
    return weights


# --- runs and searchers --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fusion:
    """How rankings become one; called with those of one query.

    Raises
    ------
    ParameterError
        If the method or normalisation is none of ours, `rrf_k` is below 0, or a weight is.
    """

    method: str = "rrf"
    rrf_k: float = RRF_K
    weights: tuple[float, ...] | None = None
    normalisation: str = "minmax"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            expected = f"one of {', '.join(METHODS)}"
            raise ParameterError(name="method", value=repr(self.method), expected=expected)
        _refuse_constant(self.rrf_k)
        _normalisation(self.normalisation)
        if self.weights is not None:
            _weights(self.weights, len(self.weights))

    def __call__(self, rankings: Sequence[Ranking]) -> list[tuple[str, float]]:
        if self.method == "rrf":
            return reciprocal_rank_fusion(rankings, k=self.rrf_k, weights=self.weights)
        return weighted_sum(rankings, weights=self.weights, normalisation=self.normalisation)

    @property
    def described(self) -> str:
        """The method in words, as facts of a run say it."""
        how = (
            f"reciprocal rank fusion (k = {self.rrf_k:g})"
            if self.method == "rrf"
            else f"weighted sum ({self.normalisation})"
        )
        weights = ", ".join(f"{weight:g}" for weight in self.weights or ())
        return f"{how}, weights {weights}" if weights else how


def fused_runs(
    runs: Sequence[Mapping[str, Ranking]], fusion: Fusion, *, depth: int = DEPTH
) -> Iterator[Result]:
    """Each query that any of the runs answers, by id as bytes, with its `depth` best documents.

    A run that does not answer a query adds nothing to it.

    Raises
    ------
    CutoffError
        If `depth` is below 1; by the call.
    """
    if depth < 1:
        raise CutoffError(cutoff=depth)
    qids = sorted({qid for run in runs for qid in run}, key=as_bytes)
    return ((qid, fusion([run.get(qid, ()) for run in runs])[:depth]) for qid in qids)


@dataclass(frozen=True, slots=True)
class FusedSearcher:
    """Searchers that answer as one: each is asked for `depth` documents, or k if that is more."""

    searchers: Sequence[Searcher]
    fusion: Fusion = field(default_factory=Fusion)
    depth: int = DEPTH

    def search(
        self,
        queries: Sequence[tuple[str, str]],
        *,
        k: int,
        progress: Progress | None = None,
    ) -> Iterator[Result]:
        """The k best documents of each query (id, text), in the order of the queries.

        Raises
        ------
        CutoffError
            If `k` is below 1; by the call.
        """
        if k < 1:
            raise CutoffError(cutoff=k)
        return self._results(queries, k, progress)

    def _results(
        self, queries: Sequence[tuple[str, str]], k: int, progress: Progress | None
    ) -> Iterator[Result]:
        depth = max(k, self.depth)
        # Side by side, query by query: the results of one query are all that is held.
        each = [searcher.search(queries, k=depth) for searcher in self.searchers]
        for done, rankings in enumerate(zip(*each, strict=True), start=1):
            yield rankings[0][0], self.fusion([ranking for _, ranking in rankings])[:k]
            if progress:
                progress(done, len(queries))
