"""The nouns of a pool: pairs, rankings, entries, and the pool itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchwright.pools.recipe import Recipe
from benchwright.pools.seeding import part_of, seeded

# Query id and document id.
Pair = tuple[str, str]
# Query id, document id and rank (from 1) of what a run retrieved, in any order.
Ranking = Iterable[tuple[str, str, int]]

# What brought an entry into its pool.
RUN = "run"
RANDOM = "random"
ADDED = "manual"
CARRIED = "carried"
CANDIDATE = "candidate"


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A document to judge for a query; `contributors` gives its rank in each run that has it.

    `best_rank` is None where no run has it within the pool's reach; `listed` is its place in a list
    of candidates, from 1. `inclusion_probability` is how likely its query's draw was to take it.
    """

    qid: str
    docid: str
    contributors: Mapping[str, int]
    best_rank: int | None
    origin: str = RUN
    inclusion_probability: float = 1.0
    listed: int | None = None

    @property
    def pair(self) -> Pair:
        return self.qid, self.docid


@dataclass(frozen=True, slots=True)
class BuiltPool:
    """A pool; `entries` stand in the order of the queue."""

    entries: tuple[PoolEntry, ...]
    run_keys: tuple[str, ...]
    recipe: Recipe
    digest: str

    @property
    def depth(self) -> int:
        return self.recipe.reach

    @property
    def seed(self) -> int:
        return self.recipe.seed


# --- How many labels each document of a pool is to get.

DOUBLE = "double"
# Agreement over fewer documents says little: Krippendorff's alpha is known to about 0.08 at 500.
ENOUGH_DOUBLES = 500
SECONDS_PER_HOUR = 3600


def labels_wanted(
    pairs: Sequence[Pair],
    *,
    overlap: int,
    double_share: float,
    seed: int,
    at_least: int = 0,
    had: Mapping[Pair, int] | None = None,
) -> list[int]:
    """Return how many labels each pair wants, in the given order.

    Parameters
    ----------
    overlap
        Labels of each pair.
    double_share
        Of the pairs, rounded up, one more label each: those that come first in seeded order, so
        that the same pairs are doubled whatever order they stand in. At least `at_least` of them.
    had
        How many labels a pair has from before; they count, and none is asked for again.
    """
    n_doubled = max(part_of(len(pairs), double_share), min(at_least, len(pairs)))
    drawn = sorted(range(len(pairs)), key=lambda place: seeded(seed, DOUBLE, *pairs[place]))
    doubled = set(drawn[:n_doubled])
    n_labels = had or {}
    return [
        max(0, overlap + (place in doubled) - n_labels.get(pair, 0))
        for place, pair in enumerate(pairs)
    ]


def expected_hours(n_labels: int, *, median_seconds: float) -> float:
    """Return how long the labels take one person, in hours: labels times median seconds."""
    return n_labels * median_seconds / SECONDS_PER_HOUR
