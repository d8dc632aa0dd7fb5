"""What is to be spread evenly: each slice, by how many relevant documents its queries have."""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median_low

from benchwright.splits.types import SplitQuery

NONE, FEW, MANY = "none", "few", "many"
Stratum = tuple[str, str]


def densities(queries: Sequence[SplitQuery]) -> list[str]:
    """Each query's label density: no relevant document, few, or more than the median of the rest.

    >>> densities([SplitQuery(str(n), str(n), n_relevant=n) for n in (0, 1, 2, 9)])
    ['none', 'few', 'few', 'many']
    """
    counted = [query.n_relevant for query in queries if query.n_relevant]
    middle = median_low(counted) if counted else 0
    return [
        NONE if not query.n_relevant else FEW if query.n_relevant <= middle else MANY
        for query in queries
    ]


def strata_by_family(queries: Sequence[SplitQuery]) -> dict[str, Counter[Stratum]]:
    """{family: {(slice, density): queries}}; the slice "" holds every query."""
    strata: dict[str, Counter[Stratum]] = {}
    for query, density in zip(queries, densities(queries), strict=True):
        counted = strata.setdefault(query.family, Counter())
        counted.update((name, density) for name in _slices(query))
    return strata


def _slices(query: SplitQuery) -> Iterable[str]:
    return ("", *dict.fromkeys(query.slices))
