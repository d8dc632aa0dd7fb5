"""A preview of pools of real runs, beside loops over the plain reference's pool."""

import gzip
import math
from itertools import combinations
from statistics import mean

import polars as pl
import pytest

from benchwright.pools import Extras, Recipe, Stratum, build_pool
from benchwright.pools.columns import build_pool_table
from benchwright.pools.preview import RunWatcher, preview

pytestmark = pytest.mark.data
SCHEMA = {"qid": pl.String(), "docid": pl.String(), "rank": pl.Int64()}
DEPTHS = (1, 2, 5, 10, 20)
READ = 40


@pytest.fixture(scope="module", params=["trec_covid_round1", "cranfield"])
def runs(data, request):
    """{run: [(query, document, rank)]} down to rank 40."""
    results = {}
    for path in sorted((data / request.param / "runs").glob("*.gz")):
        scored: dict[str, list[tuple[float, str]]] = {}
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            qid, _, docid, _, score, _ = line.split()
            scored.setdefault(qid, []).append((float(score), docid))
        rows = results[path.name.split(".")[0]] = []
        for qid in list(scored)[:30]:
            best = sorted(scored[qid], reverse=True)[:READ]
            rows += [(qid, docid, rank) for rank, (_, docid) in enumerate(best, start=1)]
    return results


def recipes(depth):
    halves = (Stratum(depth, 0.7), Stratum(depth + 7, 0.3))
    control = {"control_share": 0.2, "control_depth": READ}
    yield Recipe(depth=depth)
    yield Recipe(depth=depth, carry=True, **control)
    yield Recipe(strategy="layered", depth=depth, budget=2 * depth)
    yield Recipe(strategy="stratified", strata=halves, **control)


def top_tens(rows):
    results = {}
    for qid, docid, rank in rows:
        if rank <= 10:
            results.setdefault(qid, []).append(docid)
    return results


def judged_left_out(runs, name, entries, extras):
    """The share of a run's first ten that the pool holds without what it alone brought."""
    left = {
        entry.pair
        for entry in entries
        if entry.pair in extras.judged | extras.manual or set(entry.contributors) != {name}
    }
    tops = top_tens(runs[name]).items()
    return mean(sum((qid, docid) in left for docid in top) / len(top) for qid, top in tops)


def rbo(first, second):
    total = 0.0
    for depth in range(1, 11):
        one, other = set(first[:depth]), set(second[:depth])
        agreement = 2 * len(one & other) / (len(one) + len(other))
        total += 0.1 * 0.9 ** (depth - 1) * agreement
    return total + 0.9**10 * agreement


@pytest.mark.parametrize("depth", DEPTHS)
def test_preview_is_what_loops_over_the_pool_count(runs, depth):
    frames = {name: pl.DataFrame(rows, SCHEMA, orient="row") for name, rows in runs.items()}
    first = next(iter(runs))
    pairs = [(qid, docid) for qid, docid, rank in runs[first] if rank == 3]
    extras = Extras(judged=frozenset(pairs[:20]), manual=frozenset(pairs[20:25]))
    for recipe in recipes(depth):
        watcher = RunWatcher(list(runs))
        table = build_pool_table(frames, recipe, extras=extras, watchers=[watcher])
        pool = build_pool(runs, recipe, extras=extras)

        result = preview(table, watcher)

        assert table.digest == pool.digest
        in_all = Extras(judged=extras.judged if recipe.carry else frozenset(), manual=extras.manual)
        for run in result.runs:
            expected = judged_left_out(runs, run.run, pool.entries, in_all)
            assert run.judged_left_out == pytest.approx(expected), (recipe, run.run)
            own = [entry for entry in pool.entries if run.run in entry.contributors]
            assert run.n == len(own)
            assert run.n_unique == sum(len(entry.contributors) == 1 for entry in own)
        tops = {name: top_tens(rows) for name, rows in runs.items()}
        for pair, (a, b) in zip(result.alike, combinations(sorted(runs), 2), strict=True):
            shared = tops[a].keys() & tops[b].keys()
            expected = mean(rbo(tops[a][qid], tops[b][qid]) for qid in shared)
            assert pair.rbo == pytest.approx(expected), (recipe, a, b)
            n_of = [len({a, b} & set(entry.contributors)) for entry in pool.entries]
            assert pair.n_shared == n_of.count(2)
            assert pair.jaccard == n_of.count(2) / (n_of.count(1) + n_of.count(2))


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_run_left_out_of_a_depth_pool_fares_as_in_the_pool_of_the_others(runs, depth):
    frames = {name: pl.DataFrame(rows, SCHEMA, orient="row") for name, rows in runs.items()}
    watcher = RunWatcher(list(runs))
    table = build_pool_table(frames, Recipe(depth=depth), watchers=[watcher])

    for run in preview(table, watcher).runs:
        others = {name: rows for name, rows in runs.items() if name != run.run}
        pool = {entry.pair for entry in build_pool(others, Recipe(depth=depth)).entries}
        tops = top_tens(runs[run.run]).items()
        shares = [sum((qid, docid) in pool for docid in top) / len(top) for qid, top in tops]
        assert run.judged_left_out == pytest.approx(mean(shares))
        assert not math.isnan(run.judged_left_out)
