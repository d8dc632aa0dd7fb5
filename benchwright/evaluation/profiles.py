"""What one run is like: how its values are spread, where it found what, what that suggests."""

from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import NamedTuple

from benchwright.evaluation.uncertainty import interval_of
from benchwright.reading.hits import Judged, Qid, QueryHits

BANDS = (1, 3, 5, 10, 20, 50, 100, 1000)
"""The last rank of each band in which ranks are counted; below the last is one more band."""
N_BINS = 20


# --- spread ----------------------------------------------------------------------------------


class Bin(NamedTuple):
    """Values from `low` to below `high` (the last bin: to `high`), and the share up to there."""

    low: float
    high: float
    n: int
    share_up_to: float


def histogram(values: Sequence[float], *, n_bins: int = N_BINS) -> list[Bin]:
    """Bins of equal width from 0, or the lowest value, to 1, or the highest; NaN is left out.

    Examples
    --------
    >>> [(found.low, found.n, found.share_up_to) for found in histogram([0, 0.4, 1], n_bins=2)]
    [(0.0, 2, 0.6666666666666666), (0.5, 1, 1.0)]
    """
    defined = sorted(value for value in values if not isnan(value))
    if not defined:
        return []
    low, high = min(0.0, defined[0]), max(1.0, defined[-1])
    edges = [low + (high - low) * place / n_bins for place in range(n_bins)]
    firsts = [bisect_left(defined, edge) for edge in edges]
    ends = [*firsts[1:], len(defined)]
    return [
        Bin(edge, upper, end - first, end / len(defined))
        for edge, upper, first, end in zip(edges, [*edges[1:], high], firsts, ends, strict=True)
    ]


class Step(NamedTuple):
    """A value, and the share of values that are no higher."""

    value: float
    share: float


def cumulative(values: Sequence[float]) -> list[Step]:
    """The empirical distribution function at each value there is; NaN is left out.

    Examples
    --------
    >>> cumulative([0.5, 0.0, 0.5, 1.0])
    [Step(value=0.0, share=0.25), Step(value=0.5, share=0.75), Step(value=1.0, share=1.0)]
    """
    defined = sorted(value for value in values if not isnan(value))
    last = {value: place for place, value in enumerate(defined, start=1)}
    return [Step(value, place / len(defined)) for value, place in last.items()]


# --- ranks by grade --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GradeRanks:
    """At which ranks the documents of a grade were found; `counts` has one more than `BANDS`."""

    grade: int
    n_judged: int
    counts: tuple[int, ...]

    @property
    def n_found(self) -> int:
        return sum(self.counts)

    @property
    def n_not_found(self) -> int:
        return self.n_judged - self.n_found


def band_labels() -> list[str]:
    """What the bands are called, in their order.

    Examples
    --------
    >>> band_labels()[:3], band_labels()[-1]
    (['1', '2-3', '4-5'], '1001+')
    """
    firsts = [1, *(end + 1 for end in BANDS)]
    closed = [
        str(end) if first == end else f"{first}-{end}"
        for first, end in zip(firsts, BANDS, strict=False)
    ]
    return [*closed, f"{firsts[-1]}+"]


def grade_ranks(
    judged: Mapping[Qid, Judged], hits: Mapping[Qid, QueryHits[Qid]]
) -> list[GradeRanks]:
    """Of each grade from 0, the highest first: how many documents have it, and where they are.

    Hits of queries that are not in `judged` do not count.

    Examples
    --------
    >>> from benchwright.reading.hits import Hit
    >>> (found,) = grade_ranks({"q": Judged((2, 2))}, {"q": QueryHits("q", (Hit(3, 2),), 9)})
    >>> found.counts[:3], found.n_not_found
    ((0, 1, 0), 1)
    """
    n_judged: dict[int, int] = {}
    for of in judged.values():
        for grade in of.grades:
            n_judged[grade] = n_judged.get(grade, 0) + 1
    counts = {grade: [0] * (len(BANDS) + 1) for grade in n_judged if grade >= 0}
    for qid, query in hits.items():
        if qid in judged:
            for rank, grade in query.hits:
                if grade >= 0:
                    counts[grade][bisect_left(BANDS, rank)] += 1
    return [
        GradeRanks(grade, n_judged[grade], tuple(counts[grade]))
        for grade in sorted(counts, reverse=True)
    ]


# --- patterns --------------------------------------------------------------------------------


class Evidence(NamedTuple):
    """A number that a pattern rests on, with its 95 % interval where it is a mean."""

    label: str
    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a run's numbers suggest, and the numbers."""

    code: str
    title: str
    advice: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """Values of one run, query by query in one order; `families` may lack queries."""

    qids: Sequence[Hashable]
    families: Mapping[Hashable, Hashable]
    ndcg: Sequence[float]
    reciprocal_rank: Sequence[float]
    recall: Sequence[float]
    condensed_ndcg: Sequence[float]
    judged: Sequence[float]
    n_relevant: Sequence[int]


SMALLEST_EFFECT = 0.005
"""A difference counts from here, or from half the width of its interval if that is more."""
COVERAGE, COVERAGE_GAP = 0.5, 0.2
FIRST_HIT, FIRST_HIT_GAP = 0.6, 0.15
UNJUDGED_GAP, JUDGED_ENOUGH = 0.02, 0.95
FAILED_SHARE, FEWEST_FAILED = 0.05, 3
FEWEST_QUERIES = 10


def patterns(of: Profile) -> list[Pattern]:
    """Which patterns a run shows; below `FEWEST_QUERIES` queries there is none.

    Each compares two measures on the same queries: the mean of the differences must reach the
    rule's gap, and stay above `SMALLEST_EFFECT` or half its interval's width.
    """
    if len(of.qids) < FEWEST_QUERIES:
        return []
    rules = (_rerank, _finds_one, _low_coverage, _fails, _unjudged)
    return [pattern for rule in rules if (pattern := rule(of)) is not None]


def _rerank(of: Profile) -> Pattern | None:
    gap = _gap("Recall@100 - nDCG@10", of.recall, of.ndcg, of)
    recall = _mean("Recall@100", of.recall, of)
    if recall.value < COVERAGE or not _is_shown(gap, COVERAGE_GAP):
        return None
    return Pattern(
        "rerank",
        "Good coverage, poor ranking",
        "What is relevant is among the first 100, and not at the top: re-rank these.",
        (recall, _mean("nDCG@10", of.ndcg, of), gap),
    )


def _finds_one(of: Profile) -> Pattern | None:
    several = [place for place, n in enumerate(of.n_relevant) if n > 1]
    if len(several) < FEWEST_QUERIES:
        return None
    first = _mean("MRR@10", of.reciprocal_rank, of, several)
    gap = _gap("MRR@10 - nDCG@10", of.reciprocal_rank, of.ndcg, of, several)
    if first.value < FIRST_HIT or not _is_shown(gap, FIRST_HIT_GAP):
        return None
    return Pattern(
        "finds-one",
        "Finds one, misses the others",
        "A relevant document comes early, the further ones of the query late or never: look at how "
        "much alike the first results are, and at the wordings that the others use.",
        (first, _mean("nDCG@10", of.ndcg, of, several), gap),
    )


def _low_coverage(of: Profile) -> Pattern | None:
    recall = _mean("Recall@100", of.recall, of)
    if recall.high is None or recall.high >= COVERAGE:
        return None
    return Pattern(
        "low-coverage",
        "Poor coverage",
        "Most of what is relevant is not among the first 100, where no re-ranking finds it: "
        "retrieve more, or in another way.",
        (recall,),
    )


def _fails(of: Profile) -> Pattern | None:
    can = [place for place, n in enumerate(of.n_relevant) if n]
    failed = [place for place in can if of.recall[place] == 0]
    if len(failed) < FEWEST_FAILED or len(failed) / len(can) < FAILED_SHARE:
        return None
    share = Evidence(
        "Share of queries without a relevant document in the first 100",
        len(failed) / len(can),
        None,
        None,
        len(can),
    )
    return Pattern(
        "fails",
        "Fails altogether on some queries",
        "On these nothing relevant was found; what they have in common tells most.",
        (share,),
    )


def _unjudged(of: Profile) -> Pattern | None:
    judged = _mean("Judged@10", of.judged, of)
    gap = _gap("nDCG@10 without unjudged - nDCG@10", of.condensed_ndcg, of.ndcg, of)
    if judged.value >= JUDGED_ENOUGH or not _is_shown(gap, UNJUDGED_GAP):
        return None
    return Pattern(
        "unjudged",
        "Unjudged documents hide what it is worth",
        "Leaving out what nobody judged raises the score: judge these documents before comparing.",
        (judged, gap),
    )


def _is_shown(gap: Evidence, least: float) -> bool:
    if gap.low is None or gap.high is None:
        return False
    return gap.value >= least and gap.value > max(SMALLEST_EFFECT, (gap.high - gap.low) / 2)


def _gap(
    label: str,
    first: Sequence[float],
    second: Sequence[float],
    of: Profile,
    places: Sequence[int] | None = None,
) -> Evidence:
    differences = [a - b for a, b in zip(first, second, strict=True)]
    return _mean(label, differences, of, places, least=-1)


def _mean(
    label: str,
    values: Sequence[float],
    of: Profile,
    places: Sequence[int] | None = None,
    *,
    least: float = 0,
) -> Evidence:
    """The mean of the defined values, with its interval; they are from `least` to 1."""
    chosen = range(len(values)) if places is None else places
    defined = [place for place in chosen if not isnan(values[place])]
    if not defined:
        return Evidence(label, float("nan"), None, None, 0)
    value_of = {of.qids[place]: values[place] for place in defined}
    low, high = interval_of(value_of, of.families, span=(least, 1)) or (None, None)
    return Evidence(label, sum(value_of.values()) / len(value_of), low, high, len(value_of))
