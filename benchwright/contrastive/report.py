"""Everything one pass over a pair of embeddings tells: every k, ranks, both ways, by slice."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.contrastive.arrays import given_arrays
from benchwright.contrastive.counting import BothWays, Places, Progress, places_of_partners
from benchwright.contrastive.errors import PairIdsError
from benchwright.contrastive.pairs import Pair, checked_pair, nearest_others
from benchwright.contrastive.ranks import (
    Floats,
    checked_ties,
    checked_topk,
    hits,
    ranks,
    reciprocal_ranks,
)
from benchwright.statistics.intervals import mean_interval

# --- Everything one pass over a pair of embeddings tells: every k, ranks, both ways, by slice.

CUTOFFS = (1, 5, 10)
CURVE = (1, 2, 3, 5, 7)
N_WORST = 25
ALL = ""


class Estimate(NamedTuple):
    """A mean with its 95 % interval; the ends are NaN where there is none."""

    mean: float
    low: float = nan
    high: float = nan


@dataclass(frozen=True)
class Way:
    """One direction: `accuracy` by k, the mean of 1/rank, and the rank in the middle."""

    accuracy: Mapping[int, float]
    mrr: float
    median_rank: float


@dataclass(frozen=True)
class Part:
    """All pairs (an empty `name`) or those of a slice, among all candidates.

    `accuracy` and `mrr` are means of both directions; everything is NaN where `n` is 0.
    """

    name: str
    n: int
    accuracy: Mapping[int, Estimate]
    mrr: Estimate
    forward: Way
    backward: Way


class WorstPair(NamedTuple):
    """A pair whose partners find each other late, and the nearest other row of each."""

    row: int
    forward_rank: float
    backward_rank: float
    forward_nearest: int
    backward_nearest: int


@dataclass(frozen=True)
class ContrastiveReport:
    """`places` are of every pair; `curve` is `accuracy` of all pairs, each way, at many k.

    `unknown` are ids that a slice names and no pair has.
    """

    n: int
    n_features: int
    normalize: bool
    ties: str
    overall: Part
    slices: tuple[Part, ...]
    places: BothWays
    curve: Mapping[int, tuple[float, float]]
    worst: tuple[WorstPair, ...]
    ids: tuple[str, ...] | None = None
    unknown: tuple[str, ...] = ()

    def id_of(self, row: int) -> str:
        """The id of a row, or its number where there are no ids."""
        return str(row) if self.ids is None else self.ids[row]


def contrastive_report(
    z1: Any,
    z2: Any,
    *,
    ks: Iterable[int] = CUTOFFS,
    normalize: bool = True,
    eps: float = 1e-12,
    ties: str = "expected",
    ids: Sequence[str] | None = None,
    slices: Mapping[str, Collection[str]] | None = None,
    has_intervals: bool = True,
    n_worst: int = N_WORST,
    progress: Progress | None = None,
) -> ContrastiveReport:
    """Accuracy at every k, mean reciprocal rank and median rank, both ways, from one pass.

    Parameters
    ----------
    z1, z2, normalize, eps, ties
        As `contrastive_accuracy_score` takes them, and refused in the same way.
    ks
        Ranks counted; one beyond the number of pairs counts all of them.
    ids
        One for each row, without repeats; without them a row's number (from 0) is its id.
    slices
        {name: ids}. A slice chooses whose ranks are averaged; the candidates are always all rows.
    has_intervals
        Whether each mean has its 95 % interval: of other pairs among the candidates there are.
    progress
        Told how many tiles of how many are done.

    Raises
    ------
    PairIdsError
        If there is not one id for each row, or one stands there twice.
    """
    cutoffs = tuple(sorted({int(checked_topk(k)) for k in ks}))
    arrays = given_arrays(z1, z2)
    checked_ties(ties)
    names = None if ids is None else checked_ids(ids, arrays.first.shape[0])
    pair = checked_pair(arrays.first, arrays.second, normalize=normalize, eps=eps)
    places = places_of_partners(pair, progress)
    members, unknown = _rows_of_slices(slices or {}, names, pair.n)
    table = _Table.of(places, cutoffs, ties)
    return ContrastiveReport(
        n=pair.n,
        n_features=pair.n_features,
        normalize=normalize,
        ties=ties,
        overall=table.part(ALL, np.arange(pair.n), has_intervals),
        slices=tuple(table.part(name, rows, has_intervals) for name, rows in members.items()),
        places=places,
        curve=_curve(places, ties, pair.n),
        worst=_worst(pair, places, ties, n_worst),
        ids=names,
        unknown=unknown,
    )


# --- ids and slices ------------------------------------------------------------------------------


def checked_ids(ids: Sequence[str], n: int) -> tuple[str, ...]:
    """One id for each of n rows; raises `PairIdsError` otherwise."""
    if len(ids) != n:
        reason = f"{len(ids)} ids for {n} rows; expected one for each, in the order of the rows."
        raise PairIdsError(name="ids", reason=reason)
    rows: dict[str, int] = {}
    for row, key in enumerate(ids):
        if rows.setdefault(key, row) != row:
            reason = f"'{key}' is the id of rows {rows[key]} and {row}; expected every id once."
            raise PairIdsError(name="ids", reason=reason)
    return tuple(rows)


def _rows_of_slices(
    slices: Mapping[str, Collection[str]], ids: Sequence[str] | None, n: int
) -> tuple[dict[str, NDArray[np.intp]], tuple[str, ...]]:
    """The rows of each slice, and the ids that no row has."""
    named = map(str, range(n)) if ids is None else ids
    row_of = {key: row for row, key in enumerate(named)} if slices else {}
    rows = {
        name: np.array(sorted({row_of[key] for key in members if key in row_of}), dtype=np.intp)
        for name, members in slices.items()
    }
    unknown = {key: None for members in slices.values() for key in members if key not in row_of}
    return rows, tuple(unknown)


# --- means ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Table:
    """The values of every pair: hits at each cutoff and 1/rank (pairs x columns), and ranks."""

    cutoffs: tuple[int, ...]
    forward: Floats
    backward: Floats
    forward_ranks: Floats
    backward_ranks: Floats

    @classmethod
    def of(cls, places: BothWays, cutoffs: tuple[int, ...], ties: str) -> "_Table":
        both = (places.forward, places.backward)
        columns = [_columns(each, cutoffs, ties) for each in both]
        return cls(cutoffs, *columns, *(ranks(each, ties) for each in both))

    def part(self, name: str, rows: NDArray[np.intp], has_intervals: bool) -> Part:
        forward, backward = self.forward[rows], self.backward[rows]
        estimates = _estimates((forward + backward) / 2, has_intervals)
        return Part(
            name=name,
            n=len(rows),
            accuracy=dict(zip(self.cutoffs, estimates, strict=False)),
            mrr=estimates[-1],
            forward=self._way(forward, self.forward_ranks[rows]),
            backward=self._way(backward, self.backward_ranks[rows]),
        )

    def _way(self, columns: Floats, ranks: Floats) -> Way:
        means = columns.mean(axis=0).tolist() if len(columns) else [nan] * columns.shape[1]
        accuracy = dict(zip(self.cutoffs, means, strict=False))
        return Way(accuracy, means[-1], float(np.median(ranks)) if len(ranks) else nan)


def _columns(places: Places, cutoffs: tuple[int, ...], ties: str) -> Floats:
    of_cutoffs = [hits(places, k, ties) for k in cutoffs]
    return np.column_stack([*of_cutoffs, reciprocal_ranks(places, ties)])


def _estimates(values: Floats, has_intervals: bool) -> list[Estimate]:
    """The mean of each column with its interval."""
    if not len(values):
        return [Estimate(nan)] * values.shape[1]
    means = values.mean(axis=0)
    ends = np.full((2, len(means)), nan)
    if has_intervals:
        ends = mean_interval(values, span=(0, 1))
    return [Estimate(*map(float, each)) for each in zip(means, *ends, strict=True)]


def _curve(places: BothWays, ties: str, n: int) -> dict[int, tuple[float, float]]:
    """{k: accuracy each way} at about five k for each power of ten, the last one n."""
    both = (places.forward, places.backward)
    points = {}
    for k in curve_cutoffs(n):
        forward, backward = (float(hits(each, k, ties).mean()) for each in both)
        points[k] = (forward, backward)
    return points


def curve_cutoffs(n: int) -> list[int]:
    """1, 2, 3, 5, 7, 10, 20, 30, …, n.

    >>> curve_cutoffs(12)
    [1, 2, 3, 5, 7, 10, 12]
    """
    powers = (10**power for power in range(len(str(n))))
    return [k for power in powers for first in CURVE if (k := first * power) < n] + [n]


def _worst(pair: Pair, places: BothWays, ties: str, n: int) -> tuple[WorstPair, ...]:
    """Pairs whose partner is not first both ways, the latest first; equal ones by row."""
    forward, backward = (ranks(each, ties) for each in (places.forward, places.backward))
    late = forward + backward
    rows = np.lexsort((np.arange(len(late)), -late))[:n]
    rows = rows[late[rows] > 2]
    firsts = nearest_others(pair, rows)
    columns = (rows, forward[rows], backward[rows], *firsts)
    return tuple(WorstPair(*row) for row in zip(*(each.tolist() for each in columns), strict=True))


# --- A report as JSON, for the command, the site and its API.


def report_as_json(report: ContrastiveReport) -> dict[str, Any]:
    """The report without the places of every pair; what is undefined is None."""
    return {
        "n": report.n,
        "n_features": report.n_features,
        "normalize": report.normalize,
        "ties": report.ties,
        "parts": [_part_as_json(part) for part in (report.overall, *report.slices)],
        "curve": [
            {"k": k, "forward": forward, "backward": backward}
            for k, (forward, backward) in report.curve.items()
        ],
        "worst": [
            {
                "id": report.id_of(pair.row),
                "row": pair.row,
                "forward_rank": pair.forward_rank,
                "backward_rank": pair.backward_rank,
                "forward_nearest": report.id_of(pair.forward_nearest),
                "backward_nearest": report.id_of(pair.backward_nearest),
            }
            for pair in report.worst
        ],
        "n_unknown": len(report.unknown),
    }


def _part_as_json(part: Part) -> dict[str, Any]:
    return {
        "name": part.name,
        "n": part.n,
        "accuracy": [{"k": k, **_estimate_as_json(of)} for k, of in part.accuracy.items()],
        "mrr": _estimate_as_json(part.mrr),
        "forward": _way_as_json(part.forward),
        "backward": _way_as_json(part.backward),
    }


def _estimate_as_json(of: Estimate) -> dict[str, float | None]:
    return {"mean": _known(of.mean), "low": _known(of.low), "high": _known(of.high)}


def _way_as_json(way: Way) -> dict[str, Any]:
    return {
        "accuracy": [{"k": k, "mean": _known(mean)} for k, mean in way.accuracy.items()],
        "mrr": _known(way.mrr),
        "median_rank": _known(way.median_rank),
    }


def _known(value: float) -> float | None:
    return value if -inf < value < inf else None
