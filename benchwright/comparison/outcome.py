"""What a comparison of runs comes back with; `comparing.compare` makes it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from benchwright.comparison.aligning import OVERALL
from benchwright.evaluation import shown
from benchwright.evaluation.shown import pandas_frame, polars_frame
from benchwright.measures.registry import scored_name
from benchwright.statistics.corrections import benjamini_hochberg

if TYPE_CHECKING:
    import polars

MOST_PAIRS = 20
"""Shown in a notebook."""


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
        name = scored_name(measure, self.measures)
        return [s for s in self.summaries if (s.measure, s.slice) == (name, slice_name)]

    def pairs_of(self, measure: str, slice_name: str = OVERALL) -> list[Pair]:
        """Pairs of one table, in the order of `pairs`."""
        name = scored_name(measure, self.measures)
        return [p for p in self.pairs if (p.measure, p.slice) == (name, slice_name)]

    def _repr_html_(self) -> str:
        """Over all queries, runs and pairs of each measure, as a notebook shows them.

        Of many pairs the first are shown, and it says how many there are.
        """
        return "\n".join(
            part for measure in self.measures for part in self._tables(measure)
        ) + shown.sentences(self.notes)

    def _tables(self, measure: str) -> Iterator[str]:
        summaries, pairs = self.summaries_of(measure), self.pairs_of(measure)
        level = f"{100 * self.methods.level:g}% interval"
        means = _drawn([(of.mean, of.interval) for of in summaries])
        yield shown.table(
            [measure, "mean", level, "", "rank", "tie group"],
            [
                (of.run, *mean, of.rank, of.tie_group)
                for of, mean in zip(summaries, means, strict=True)
            ],
        )
        left_out = len(pairs) - MOST_PAIRS
        few = pairs[:MOST_PAIRS]
        differences = _drawn([(of.difference, of.interval) for of in few])
        yield shown.table(
            [f"{measure}, difference", "", level, "", f"p ({self.methods.correction})", ""],
            [
                (f"{of.run} - {of.reference}", *drawn, of.p_adjusted, of.decision or "not decided")
                for of, drawn in zip(few, differences, strict=True)
            ],
            notes=[f"{left_out:,} further pairs: to_frame() has all."] if left_out > 0 else [],
        )

    def to_frame(self, of: Literal["pairs", "runs"] = "pairs") -> "polars.DataFrame":
        """A row a pair, or a row a run, of each measure and slice, as a frame of polars.

        Raises
        ------
        MissingPackageError
            If there is no polars, which the extra `tools` brings.
        """
        return polars_frame(self._rows(of))

    def to_pandas(self, of: Literal["pairs", "runs"] = "pairs") -> Any:
        """As `to_frame`, of pandas, which the extra `pandas` brings."""
        return pandas_frame(self._rows(of))

    def _rows(self, of: Literal["pairs", "runs"]) -> list[dict[str, Any]]:
        rows: Iterable[Pair | RunSummary] = self.pairs if of == "pairs" else self.summaries
        return [dict(_flat(asdict(row))) for row in rows]

    def as_dict(self) -> dict[str, Any]:
        """The same as lists and dicts that JSON can hold: an undefined number is None."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain


def _drawn(values: Sequence[tuple[float, Interval]]) -> Iterator[tuple[object, ...]]:
    """Cells of a number, its interval and a drawing of both, all on one axis."""
    axis = shown.common_span(number for value, of in values for number in (value, *of))
    for value, of in values:
        yield value, shown.interval_words(*of), shown.interval_chart(value, *of, axis)


def _flat(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Cells of a row: what a field is made of has columns of its own."""
    for name, value in row.items():
        if isinstance(value, RankInterval):
            yield from (("rank_best", value.best), ("rank_worst", value.worst))
        elif isinstance(value, Interval):
            yield from (("low", value.low), ("high", value.high))
        elif isinstance(value, Mapping):
            yield from value.items()
        elif name != "rank_interval":
            yield name, value


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
