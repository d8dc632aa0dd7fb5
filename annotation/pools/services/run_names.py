"""Runs that lose a person's name lose it in pools, which know their runs by name."""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from annotation.models import Pool, PoolEntry
from benchmarks_app.person_records import follows_runs
from benchwright.pools import PoolEntry as PooledEntry
from benchwright.pools import digest_header, entry_line, recipe_of


@follows_runs
def rename_pooled_runs(before: Mapping[int, str]) -> set[str]:
    """Write the new names of these runs, given with those from before; returns the tables."""
    pools = Pool.objects.filter(runs__in=before).distinct()
    for pool in pools:
        rename_runs_of(pool, before)
    return {Pool._meta.db_table, PoolEntry._meta.db_table} if pools else set()


def rename_runs_of(pool: Pool, before: Mapping[int, str]) -> None:
    """Write what its runs are called by now, given with names from before; saves the pool."""
    runs = pool.runs.filter(pk__in=before).values_list("pk", "name")
    names = {before[key]: name for key, name in runs if before[key] != name}
    if not names:
        return
    pool.parameters = _parameters_renamed(pool.parameters, names)
    pool.statistics = _statistics_renamed(pool.statistics, names)
    pool.digest = _rename_entries(pool, names)
    pool.save(update_fields=["parameters", "statistics", "digest"])


def _parameters_renamed(parameters: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    runs = sorted(names.get(name, name) for name in parameters.get("runs", ()))
    control = _renamed(parameters["control"], names) if "control" in parameters else None
    return {**parameters, "runs": runs} | ({"control": control} if control else {})


def _statistics_renamed(statistics: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """What they say of runs: in values alone, but for numbers that stand under a run's name."""
    renamed: dict[str, Any] = _renamed(statistics, names)
    if left_out := statistics.get("judged_left_out"):
        renamed["judged_left_out"] = {names.get(run, run): of for run, of in left_out.items()}
    return renamed


def _rename_entries(pool: Pool, names: Mapping[str, str]) -> str:
    """The digest of the pool as it is then: it covers what the runs are called."""
    # Every process of a site loads this module; few rename a run, and pools load numpy.
    from annotation.pools.services.planning import listed_pairs

    recipe = recipe_of(pool.strategy, pool.order, pool.seed, pool.parameters)
    places = {pair: place for place, pair in enumerate(listed_pairs(pool.candidate_list_id), 1)}
    digest = sha256(digest_header(pool.parameters["runs"], recipe))
    entries = PoolEntry.objects.filter(pool=pool)
    queries = entries.order_by().values_list("query", "query__qid").distinct()
    for query, qid in sorted(queries, key=lambda row: row[1].encode()):
        rows = list(entries.filter(query=query).select_related("document"))
        rows.sort(key=lambda row: row.document.docid.encode())
        renamed = [row for row in rows if names.keys() & row.contributors.keys()]
        for row in renamed:
            ranks = row.contributors.items()
            row.contributors = {names.get(name, name): rank for name, rank in ranks}
        PoolEntry.objects.bulk_update(renamed, ["contributors"], batch_size=500)
        for row in rows:
            # What came in since, because its grade is known, is no part of what was built.
            if row.origin != PoolEntry.Origin.KNOWN:
                digest.update(entry_line(_built(row, qid, places)))
    return digest.hexdigest()


def _built(row: PoolEntry, qid: str, places: Mapping[tuple[str, str], int]) -> PooledEntry:
    docid = row.document.docid
    is_listed = row.origin == PoolEntry.Origin.CANDIDATE
    return PooledEntry(
        qid,
        docid,
        row.contributors,
        row.best_rank,
        row.origin,
        row.inclusion_probability,
        places[qid, docid] if is_listed else None,
    )


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A value of JSON with the new names, also where a sentence has an old one; keys stay."""
    if isinstance(value, str):
        longest_first = sorted(names, key=len, reverse=True)
        old = rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)"
        return names.get(value) or re.sub(old, lambda match: names[match[0]], value)
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    if isinstance(value, dict):
        return {key: _renamed(item, names) for key, item in value.items()}
    return value
