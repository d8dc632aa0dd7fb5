"""How many results of a benchmark exist already; each app counts its own.

A slice that is registered after results were seen may have been chosen because of them: the number
is written down with it.
"""

from collections.abc import Callable

from benchmarks_app.models import Benchmark

Counter = Callable[[Benchmark], int]
COUNTERS: list[Counter] = []


def counts_results(counter: Counter) -> Counter:
    """Register what counts one kind of results of a benchmark."""
    COUNTERS.append(counter)
    return counter


def n_results_seen(benchmark: Benchmark) -> int:
    """Results of every kind that somebody could have looked at by now."""
    return sum(counter(benchmark) for counter in COUNTERS)
