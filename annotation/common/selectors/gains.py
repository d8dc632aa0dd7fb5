"""What a grade counts in a measure that adds up over documents."""

from collections.abc import Callable

from benchmarks_app.common.selectors.qrel_sets import relevant_values
from benchmarks_app.models import Benchmark


def gains_of(benchmark: Benchmark, measure: str) -> Callable[[int], float]:
    """From a grade to its gain: for P 1 or 0, for DCG the grade, as boards count them."""
    relevant = relevant_values(benchmark)
    if measure == "P":
        return lambda grade: float(grade in relevant if relevant else grade > 0)
    return lambda grade: float(max(grade, 0))
