"""Pools: which documents are judged, in which order, and what the pool tells about the runs."""

from benchwright.pools.building import Extras, build_pool
from benchwright.pools.digest import digest_header, entry_line, pool_digest
from benchwright.pools.entries import BuiltPool, Pair, PoolEntry, Ranking, expected_hours
from benchwright.pools.order import queue_order, shown_places
from benchwright.pools.recipe import DEPTH_K, Recipe, Stratum, recipe_of

__all__ = [
    "DEPTH_K",
    "BuiltPool",
    "Extras",
    "Pair",
    "PoolEntry",
    "Ranking",
    "Recipe",
    "Stratum",
    "build_pool",
    "digest_header",
    "entry_line",
    "expected_hours",
    "pool_digest",
    "queue_order",
    "recipe_of",
    "shown_places",
]
