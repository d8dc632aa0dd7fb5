"""The identity of a pool: equal for equal pools, whatever order they were made in."""

from collections.abc import Iterable
from hashlib import sha256

from benchwright.pools.entries import RUN, PoolEntry
from benchwright.pools.recipe import DEPTH_K, LAYERED, Recipe
from benchwright.pools.seeding import canonical


def pool_digest(entries: Iterable[PoolEntry], *, run_keys: Iterable[str], recipe: Recipe) -> str:
    """Return the SHA-256 of a pool, in hexadecimal: equal for equal inputs in any order.

    It covers the recipe, the seed and the runs (also those that added nothing), and each entry with
    its contributors: one JSON array a line, `digest_header` first, entries by the bytes of their
    ids.
    """
    digest = sha256(digest_header(run_keys, recipe))
    for entry in sorted(entries, key=lambda entry: (entry.qid.encode(), entry.docid.encode())):
        digest.update(entry_line(entry))
    return digest.hexdigest()


def entry_line(entry: PoolEntry) -> bytes:
    """Return an entry as the digest has it."""
    line: list[object] = [entry.qid, entry.docid, sorted(entry.contributors.items())]
    if entry.origin != RUN or entry.inclusion_probability != 1.0:
        line += [entry.origin, entry.inclusion_probability, entry.listed]
    return canonical(line) + b"\n"


def digest_header(run_keys: Iterable[str], recipe: Recipe) -> bytes:
    """Return the first line. A plain depth pool is named by depth, seed and runs alone."""
    runs = sorted(run_keys)
    parameters = recipe.as_parameters()
    parameters.pop("carry", None)  # what was carried over is told by the entries
    is_plain = recipe.strategy == DEPTH_K and recipe.order == LAYERED
    if is_plain and parameters == {"depth": recipe.depth}:
        return canonical([DEPTH_K, recipe.depth, recipe.seed, runs]) + b"\n"
    return canonical([recipe.strategy, recipe.order, parameters, recipe.seed, runs]) + b"\n"
