"""The nouns of a pool: pairs, rankings, entries, and the pool itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotation.core.pooling.recipe import Recipe

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
