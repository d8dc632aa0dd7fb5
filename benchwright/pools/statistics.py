"""What a pool tells about the runs, and how much work it is."""

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from benchwright.pools.entries import Pair, PoolEntry
from benchwright.pools.errors import EmptyPoolError

SECONDS_PER_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of the pool two runs share; shares are NaN-free: 0.0 where there is nothing.

    `jaccard` is shared over what either has, `share_of_a` shared over what run a has.
    """

    run_a: str
    run_b: str
    n_shared: int
    jaccard: float
    share_of_a: float
    share_of_b: float


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    """What a pool's page shows.

    `n_contributed` counts the entries a run has in the pool, `n_unique` those that no other run
    has. `judged_share` is in [0, 1]. `hours_left` is for the labels still wanted.
    """

    n_entries: int
    n_queries: int
    n_judged: int
    per_query: Mapping[str, int]
    smallest_query: int
    median_query: float
    largest_query: int
    n_contributed: Mapping[str, int]
    n_unique: Mapping[str, int]
    overlaps: tuple[Overlap, ...]
    judged_share: float
    hours_left: float

    def overlap(self, run_a: str, run_b: str) -> Overlap:
        """Return the overlap of two runs, whichever way round they are asked for."""
        for found in self.overlaps:
            if (found.run_a, found.run_b) == (run_a, run_b):
                return found
            if (found.run_b, found.run_a) == (run_a, run_b):
                return _turned(found)
        raise KeyError((run_a, run_b))


def pool_statistics(
    entries: Collection[PoolEntry],
    *,
    run_keys: Collection[str],
    judged: Container[Pair] = (),
    labels_per_entry: int = 1,
    median_seconds: float,
) -> PoolStatistics:
    """Return sizes, contributions, overlaps and expected hours of a pool.

    Parameters
    ----------
    run_keys
        All runs of the pool, also those that added nothing.
    judged
        Pairs that need no more labels; pairs outside the pool do not count.
    labels_per_entry
        Labels wanted for each entry that is not judged.
    median_seconds
        Of one label.
    """
    if not entries:
        raise EmptyPoolError(n_runs=len(run_keys))
    per_query = Counter(entry.qid for entry in entries)
    n_judged = sum(entry.pair in judged for entry in entries)
    n_labels = (len(entries) - n_judged) * labels_per_entry
    contributed, unique = _contributions(entries, run_keys)
    return PoolStatistics(
        n_entries=len(entries),
        n_queries=len(per_query),
        n_judged=n_judged,
        per_query=dict(per_query),
        smallest_query=min(per_query.values()),
        median_query=median(per_query.values()),
        largest_query=max(per_query.values()),
        n_contributed=contributed,
        n_unique=unique,
        overlaps=tuple(_overlaps(entries, contributed)),
        judged_share=n_judged / len(entries),
        hours_left=expected_hours(n_labels, median_seconds=median_seconds),
    )


def expected_hours(n_labels: int, *, median_seconds: float) -> float:
    """Return how long the labels take one person, in hours: labels times median seconds."""
    return n_labels * median_seconds / SECONDS_PER_HOUR


def _contributions(
    entries: Collection[PoolEntry], run_keys: Collection[str]
) -> tuple[dict[str, int], dict[str, int]]:
    contributed, unique = dict.fromkeys(sorted(run_keys), 0), dict.fromkeys(sorted(run_keys), 0)
    for entry in entries:
        for key in entry.contributors:
            contributed[key] += 1
            unique[key] += len(entry.contributors) == 1
    return contributed, unique


def _overlaps(entries: Collection[PoolEntry], contributed: Mapping[str, int]) -> Iterator[Overlap]:
    shared: Counter[tuple[str, str]] = Counter()
    for entry in entries:
        shared.update(combinations(sorted(entry.contributors), 2))
    for run_a, run_b in combinations(contributed, 2):
        n_shared, n_a, n_b = shared[run_a, run_b], contributed[run_a], contributed[run_b]
        yield Overlap(
            run_a,
            run_b,
            n_shared,
            jaccard=_share(n_shared, n_a + n_b - n_shared),
            share_of_a=_share(n_shared, n_a),
            share_of_b=_share(n_shared, n_b),
        )


def _turned(overlap: Overlap) -> Overlap:
    return Overlap(
        overlap.run_b,
        overlap.run_a,
        overlap.n_shared,
        overlap.jaccard,
        share_of_a=overlap.share_of_b,
        share_of_b=overlap.share_of_a,
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
