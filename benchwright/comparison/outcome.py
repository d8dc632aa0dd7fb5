"""What a comparison of runs comes back with; `comparing.compare` makes it."""

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from benchwright.comparison.aligning import OVERALL
from benchwright.statistics.corrections import benjamini_hochberg


class Interval(NamedTuple):
    """From `low` to `high`; NaN where fewer than two families are there to tell."""

    low: float
    high: float


class RankInterval(NamedTuple):
    """Best and worst rank that a run has in resampled sets of queries."""

    best: int
    worst: int


@dataclass(frozen=True, slots=True)
class Methods:
    """How the numbers were made: enough to make them again."""

    test: str
    alternative: str
    correction: str
    interval: str
    level: float
    n_flips: int
    n_draws: int
    seed: int


@dataclass(frozen=True, slots=True)
class SliceSize:
    name: str
    n_queries: int
    n_families: int


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run by one measure over one slice; `rank` is None where the mean is undefined.

    Runs of equal means share a rank. Tie groups are numbered from 1: the first holds every truly
    best run with the level of the intervals, the others describe what is left in the same way.
    """

    run: str
    measure: str
    slice: str
    n_queries: int
    n_undefined: int
    mean: float
    interval: Interval
    rank: int | None
    rank_interval: RankInterval | None
    tie_group: int | None


@dataclass(frozen=True, slots=True)
class Effect:
    """How large a difference is; a tie is a difference below 1e-6.

    `relative` is the difference over the reference's mean, `d_z` over its own standard deviation;
    `share_worse` counts the queries that lose more than 0.1, and `superiority` is the probability
    that a query is better, ties counted as a half.
    """

    relative: float
    d_z: float
    wins: int
    ties: int
    losses: int
    share_worse: float
    superiority: float


@dataclass(frozen=True, slots=True)
class Power:
    """What the queries can show, at 5 % two-sided and a power of 80 %.

    `sigma` is the standard deviation of the differences, and `detectable` the smallest difference
    that would be found, NaN where that is more than the measure can differ; the queries needed are
    for the difference as observed and for `delta`, or None where no number suffices or is known.
    """

    sigma: float
    detectable: float
    queries_for_observed: int | None
    queries_for_delta: int | None
    delta: float


@dataclass(frozen=True, slots=True)
class Pair:
    """`run` minus `reference` by one measure over one slice, on the queries where both are defined.

    `p` is the chosen test's, `p_adjusted` after the correction, `p_t` the paired t-test's beside.
    `decision` is "better", "worse" or "" by the corrected p; where test and interval part, `reason`
    says why. Fewer than 15 of the `n_differing` families make no right interval.
    """

    run: str
    reference: str
    measure: str
    slice: str
    n_queries: int
    difference: float
    interval: Interval
    p: float
    p_adjusted: float
    p_t: float
    effect: Effect
    power: Power
    decision: str
    reason: str
    n_differing: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Summaries and pairs are ordered by measure, slice, and run as they were given.

    With a baseline it is the reference of every pair; without one all pairs are there, and the
    earlier run of the two is the reference.
    """

    runs: tuple[str, ...]
    baseline: str | None
    measures: tuple[str, ...]
    slices: tuple[SliceSize, ...]
    methods: Methods
    summaries: tuple[RunSummary, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]

    def summaries_of(self, measure: str, slice_name: str = OVERALL) -> list[RunSummary]:
        """Summaries of one table, in the order the runs were given."""
        return [s for s in self.summaries if (s.measure, s.slice) == (measure, slice_name)]

    def pairs_of(self, measure: str, slice_name: str = OVERALL) -> list[Pair]:
        """Pairs of one table, in the order of `pairs`."""
        return [p for p in self.pairs if (p.measure, p.slice) == (measure, slice_name)]

    def as_dict(self) -> dict[str, Any]:
        """The same as lists and dicts that JSON can hold: an undefined number is None."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, Interval | RankInterval):
        return _plain(value._asdict())
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


# --- p-values of many slices, looked at to find where a difference is rather than to decide.

PlaceOfPair = tuple[str, str, str, str]
"""Measure, slice, run and reference."""


def slice_p_values(
    pairs: Iterable[Pair], *, without: Collection[str] = ()
) -> dict[PlaceOfPair, float]:
    """Benjamini-Hochberg's p of each pair over a slice: all slices of one measure together.

    `OVERALL` is no slice, and those named in `without` are left out. Overlapping slices depend on
    each other positively, where the false discovery rate still holds (Benjamini and Yekutieli,
    Annals of Statistics 29, 2001).
    """
    by_measure: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.slice != OVERALL and pair.slice not in without:
            by_measure.setdefault(pair.measure, []).append(pair)
    p_of = {}
    for measure, of in by_measure.items():
        adjusted = benjamini_hochberg(np.array([pair.p for pair in of]))
        for pair, p in zip(of, adjusted.tolist(), strict=True):
            p_of[measure, pair.slice, pair.run, pair.reference] = p
    return p_of
