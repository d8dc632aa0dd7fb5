"""How long queries took: quantiles, and bins for a histogram. All times are in milliseconds."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite, log10
from typing import NamedTuple

from benchwright.errors import ScoringError
from benchwright.statistics.descriptive import quantile

N_BINS = 24
# From this ratio of the 95th percentile to the 5th on, equal widths would hide most of the bins.
FAR_APART = 20.0


class LatencyError(ScoringError, code="latency"):
    message = (
        "A query took {milliseconds} ms; expected a number from 0. Look at the clock it is from."
    )


class LatencyBin(NamedTuple):
    """Queries that took from `low` to below `high` ms (the last bin: to `high`)."""

    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class LatencyBins:
    """Bins that hold every query; `is_logarithmic` where their widths grow by a factor."""

    bins: tuple[LatencyBin, ...]
    is_logarithmic: bool


@dataclass(frozen=True, slots=True)
class LatencySummary:
    """Milliseconds a query: how many queries were timed, and the usual points between them."""

    n: int
    mean: float
    p50: float
    p95: float
    p99: float
    longest: float


def latency_summary(milliseconds: Iterable[float]) -> LatencySummary | None:
    """The summary of so many queries, in any order; None of none.

    Raises
    ------
    LatencyError
        If one is negative, infinite or no number: the clock was wrong, and so would the rest be.
    """
    ordered = _ordered(milliseconds)
    if not ordered:
        return None
    return LatencySummary(
        n=len(ordered),
        mean=sum(ordered) / len(ordered),
        p50=quantile(ordered, 0.5),
        p95=quantile(ordered, 0.95),
        p99=quantile(ordered, 0.99),
        longest=ordered[-1],
    )


def latency_bins(milliseconds: Iterable[float], *, n_bins: int = N_BINS) -> LatencyBins:
    """A histogram over every query; of equal widths, or of equal ratios where times lie far apart.

    Examples
    --------
    >>> [(found.low, found.n) for found in latency_bins([1, 2, 2, 5], n_bins=2).bins]
    [(1.0, 3), (3.0, 1)]
    """
    ordered = _ordered(milliseconds)
    if not ordered:
        return LatencyBins((), is_logarithmic=False)
    low, high = ordered[0], ordered[-1]
    if low == high:
        return LatencyBins((_alone(low, len(ordered)),), is_logarithmic=False)
    is_logarithmic = low > 0 and quantile(ordered, 0.95) >= FAR_APART * quantile(ordered, 0.05)
    edges = _ratios(low, high, n_bins) if is_logarithmic else _widths(low, high, n_bins)
    firsts = [0, *(bisect_left(ordered, edge) for edge in edges[1:-1]), len(ordered)]
    counted = zip(edges, edges[1:], firsts, firsts[1:], strict=False)
    bins = tuple(LatencyBin(lower, upper, end - first) for lower, upper, first, end in counted)
    return LatencyBins(bins, is_logarithmic)


def _ordered(milliseconds: Iterable[float]) -> list[float]:
    ordered = sorted(float(time) for time in milliseconds)
    for time in ordered:
        if not isfinite(time) or time < 0:
            raise LatencyError(milliseconds=time)
    return ordered


def _alone(value: float, n: int) -> LatencyBin:
    """One bin around queries that all took the same."""
    half = value * 0.05 or 0.5
    return LatencyBin(value - half if value else 0.0, value + half, n)


def _widths(low: float, high: float, n_bins: int) -> list[float]:
    return [*(low + (high - low) * place / n_bins for place in range(n_bins)), high]


def _ratios(low: float, high: float, n_bins: int) -> list[float]:
    first, last = log10(low), log10(high)
    inner = (10 ** (first + (last - first) * place / n_bins) for place in range(1, n_bins))
    return [low, *inner, high]


def told_ms(value: float) -> str:
    """Milliseconds as people read them.

    Examples
    --------
    >>> told_ms(0.0312), told_ms(4.26), told_ms(812.6), told_ms(12345)
    ('0.03 ms', '4.3 ms', '813 ms', '12.3 s')
    """
    if value >= 10_000:
        return f"{value / 1000:.1f} s"
    if value >= 100:
        return f"{value:.0f} ms"
    return f"{value:.1f} ms" if value >= 1 else f"{value:.2f} ms"
