"""What scoring tells of a benchmark: what its queries can show, how many results exist already."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from benchmarks_app.models import Benchmark


@dataclass(frozen=True)
class Reach:
    """What some queries can show, at 5 % two-sided and with a power of 80 %.

    `n_effective` is how many independent queries they are worth: wordings of one need tell less
    than as many needs. `sigma` is the standard deviation of the difference of two runs on one
    query; `is_assumed` says that no two runs were there to take it from. `detectable` is the
    smallest difference that would be found; None without queries, and where so few would miss the
    largest there can be. `n_for_hundredth` queries find ±0.01; `n_for_gate` show a slice to be not
    worse by more than 0.02.
    """

    n: int
    n_families: int
    n_effective: float
    sigma: float
    is_assumed: bool
    detectable: float | None
    powers: Mapping[str, float]
    n_for_hundredth: int
    n_for_gate: int

    @property
    def n_lacking(self) -> int:
        """How many more queries it takes to see ±0.01."""
        return max(0, self.n_for_hundredth - self.n)


Measurer = Callable[[Benchmark, Mapping[str, Collection[str]]], dict[str, Reach]]
MEASURERS: list[Measurer] = []


def measures_reach(measurer: Measurer) -> Measurer:
    """Register what works out the reach of sets of queries, by the names of the sets."""
    MEASURERS.append(measurer)
    return measurer


def reach_of(benchmark: Benchmark, sets: Mapping[str, Collection[str]]) -> dict[str, Reach]:
    """The reach of each set of queries; empty where nobody can work it out."""
    return MEASURERS[0](benchmark, sets) if MEASURERS and sets else {}


# A slice that is registered after results were seen may have been chosen because of them: their
# number is written down with it.
Counter = Callable[[Benchmark], int]
COUNTERS: list[Counter] = []


def counts_results(counter: Counter) -> Counter:
    """Register what counts one kind of results of a benchmark."""
    COUNTERS.append(counter)
    return counter


def n_results_seen(benchmark: Benchmark) -> int:
    """Results of every kind that somebody could have looked at by now."""
    return sum(counter(benchmark) for counter in COUNTERS)
