"""What a preview says, counted by hand and against simple implementations."""

import math
import threading
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.pools import Recipe, columns
from benchwright.pools.building import Extras
from benchwright.pools.columns import build_pool_table
from benchwright.pools.entries import labels_wanted
from benchwright.pools.preview import (
    DepthWatcher,
    RunWatcher,
    measured_elsewhere,
    preview,
    rbo_matrix,
    shallowest,
)

SCHEMA = {"qid": pl.String(), "docid": pl.String(), "rank": pl.Int64()}
RUNS = {
    "bm25": {"q1": "abc", "q2": "x"},
    "dense": {"q1": "bda", "q2": "y"},
    "empty": {},
}


def frame(rankings):
    rows = [
        (qid, docid, rank)
        for qid, docids in rankings.items()
        for rank, docid in enumerate(docids, start=1)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def looked_at(runs, extras=None, **recipe):
    watcher = RunWatcher(list(runs))
    frames = {name: frame(rankings) for name, rankings in runs.items()}
    table = build_pool_table(
        frames, Recipe(**recipe), extras=extras or Extras(), watchers=[watcher]
    )
    return preview(table, watcher)


def test_watchers_are_told_in_order_on_the_callers_thread_and_never_far_behind(monkeypatch):
    monkeypatch.setattr(columns, "ROWS_AT_ONCE", 1)
    queries = [f"q{number:02}" for number in range(20)]
    blocks, steps = [], []
    pool_of_block = columns._pool_of

    def begun(block, *frames, **options):
        blocks.append(block)
        return pool_of_block(block, *frames, **options)

    def watch(rows):
        steps.append((threading.get_ident(), rows["qid"].unique().to_list()))
        assert len(blocks) <= len(steps) + columns.N_THREADS

    monkeypatch.setattr(columns, "_pool_of", begun)

    build_pool_table({"a": frame(dict.fromkeys(queries, "xyz"))}, Recipe(depth=2), watchers=[watch])

    assert steps == [(threading.get_ident(), [qid]) for qid in queries]


def test_sizes_contributions_and_what_a_system_left_out_would_lack():
    preview = looked_at(RUNS, depth=2)

    assert (preview.n_entries, preview.n_queries) == (5, 2)
    assert (preview.smallest_query, preview.median_query, preview.largest_query) == (2, 2.5, 3)
    bm25, dense, empty = preview.runs
    # Depth 2: bm25 brings a b / x, dense b d / y. Without bm25, the pool has b alone of its a b c,
    # and not x: (1/3 + 0) / 2. Of dense's b d a it has two.
    assert (bm25.n, bm25.n_unique, bm25.judged_left_out) == (3, 2, 1 / 6)
    assert (dense.n, dense.n_unique, dense.judged_left_out) == (3, 2, 1 / 3)
    assert (empty.n, empty.n_unique) == (0, 0)
    assert math.isnan(empty.judged_left_out)
    assert (preview.judged_new, preview.judged_new_least) == (0.25, 1 / 6)


def test_what_was_judged_before_helps_a_system_left_out():
    extras = Extras(judged={("q2", "x"), ("q9", "far")})

    preview = looked_at(RUNS, extras, depth=2, carry=True)
    assert preview.n_by_origin == {"carried": 1, "run": 5}
    assert preview.runs[0].judged_left_out == pytest.approx((1 / 3 + 1) / 2)


def simple_rbo(first, second, p=0.9, k=10):
    total = 0.0
    for depth in range(1, k + 1):
        a, b = set(first[:depth]), set(second[:depth])
        agreement = 2 * len(a & b) / (len(a) + len(b))
        total += (1 - p) * p ** (depth - 1) * agreement
    return total + p**k * agreement


lists = st.lists(st.sampled_from("abcdefghijklmnop"), unique=True, max_size=10)


@given(st.lists(lists, min_size=2, max_size=4))
def test_rbo_is_that_of_the_definition(rankings):
    documents = "abcdefghijklmnop"
    ranks = np.array([[(r.index(d) + 1) if d in r else 11 for r in rankings] for d in documents])
    matrix = rbo_matrix(ranks.astype(np.int8))

    for a, b in combinations(range(len(rankings)), 2):
        if rankings[a] and rankings[b]:
            assert matrix[a, b] == pytest.approx(simple_rbo(rankings[a], rankings[b]))
        else:
            assert math.isnan(matrix[a, b])


def test_equal_rankings_have_an_overlap_of_one_and_disjoint_ones_of_none():
    ranks = np.array([[rank, rank, 11] for rank in range(1, 11)] + [[11, 11, 1]], dtype=np.int8)

    matrix = rbo_matrix(ranks)
    assert matrix[0, 1] == pytest.approx(1.0)
    assert matrix[0, 2] == 0.0


def test_runs_that_are_alike_few_or_all_of_one_kind_are_warned_of():
    same = {"dense-a": {"q": "abc"}, "dense-b": {"q": "abc"}}

    twice, few, alike, lexical = looked_at(same, depth=3).warnings
    assert twice.startswith("dense-a and dense-b have the same first ten")
    assert few.startswith("One system: ")
    assert "mean RBO@10 1.00" in alike
    assert "ranks by words" in lexical
    other = {**same, "bm25": {"q": "xyz"}, "splade": {"q": "uvw"}}
    (twice,) = looked_at(other, depth=3).warnings
    assert "under two names" in twice
    different = {**other, "dense-b": {"q": "cab"}}
    assert looked_at(different, depth=3).warnings == []
    *_, few, _, _ = looked_at({**same, "dense-c": same["dense-a"]}, depth=3).warnings
    assert few.startswith("One system: ")


def test_eight_tenths_summed_up_are_enough():
    assert shallowest([0.7, sum([0.1] * 8)], 0.8) == 2


def test_the_nearest_line_of_another_collection_is_named():
    assert measured_elsewhere(3, 10) == (3, 10, 22, 0.57)
    assert measured_elsewhere(24, 40) == (12, 50, 217, 0.92)


PAIRS = [(f"q{n % 7}", f"d{n}") for n in range(40)]


def test_every_document_wants_its_labels_and_a_seeded_share_one_more():
    wanted = labels_wanted(PAIRS, overlap=2, double_share=0.1, seed=3)

    assert sorted(set(wanted)) == [2, 3]
    assert wanted.count(3) == 4
    assert wanted == labels_wanted(PAIRS, overlap=2, double_share=0.1, seed=3)
    assert wanted != labels_wanted(PAIRS, overlap=2, double_share=0.1, seed=4)
    turned = labels_wanted(PAIRS[::-1], overlap=2, double_share=0.1, seed=3)
    assert turned == wanted[::-1]


def test_labels_from_before_are_not_asked_for_again():
    had = {PAIRS[0]: 1, PAIRS[1]: 9}

    assert labels_wanted(PAIRS, overlap=2, double_share=0, seed=3, had=had)[:3] == [1, 0, 2]


@pytest.mark.parametrize(("n", "expected"), [(40, 40), (1000, 500), (6000, 600)])
def test_a_least_number_of_doubles_is_kept(n, expected):
    pairs = [("q", str(number)) for number in range(n)]

    wanted = labels_wanted(pairs, overlap=1, double_share=0.1, seed=1, at_least=500)
    assert wanted.count(2) == expected


# What a pool would be at other depths


rankings = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.lists(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), unique=True, max_size=24),
)


def watched_depths(runs, recipe, extras):
    watchers = RunWatcher(list(runs)), DepthWatcher(list(runs))
    frames = {name: frame(of) for name, of in runs.items()}
    table = build_pool_table(frames, recipe, extras=extras, watchers=list(watchers))
    return preview(table, watchers[0]), watchers[1].depths()


@pytest.mark.in_thirds
@given(st.lists(rankings, min_size=2, max_size=4), st.integers(1, 20), st.booleans())
def test_each_depth_is_what_the_pool_of_that_depth_says_of_itself(all_rankings, depth, carry):
    runs = dict(zip("ABCD", [{"q1": "abc"}, *all_rankings], strict=False))
    extras = Extras(judged={("q1", "a"), ("q2", "z")}, manual={("q3", "m")})
    _, depths = watched_depths(runs, Recipe(depth=depth, carry=carry), extras)
    held = (extras.judged if carry else set()) | extras.manual

    for other in (1, 4, 9, 15, 20):
        pool, _ = watched_depths(runs, Recipe(depth=other, carry=carry), extras)
        assert depths.n_documents[other - 1] + len(held) == pool.n_entries
        for run in pool.runs:
            share = depths.judged[run.run][other - 1]
            assert share == pytest.approx(run.judged_left_out, nan_ok=True)
        assert depths.judged_new[other - 1] == pytest.approx(pool.judged_new)


def test_the_first_ten_count_however_shallow_the_pool_is():
    # Both rank the same ten: at depth d the other's pool has d of them, not all d of d.
    runs = {"one": {"q1": "abcdefghij"}, "other": {"q1": "abcdefghij"}}

    _, depths = watched_depths(runs, Recipe(depth=5), Extras())
    assert depths.judged_new[:10] == pytest.approx([n / 10 for n in range(1, 11)])
    assert depths.n_documents[:3] == (1, 2, 3)
    assert depths.least_alike(5) == "one"


def test_random_documents_count_as_in_the_pool_that_has_them():
    runs = {"one": {"q1": "abcdefghijklmn"}, "other": {"q1": "zyxwvutsrqponm"}}

    pool, depths = watched_depths(runs, Recipe(depth=4, control_share=0.5, seed=3), Extras())
    assert depths.judged_new[3] == pytest.approx(pool.judged_new)
    assert pool.judged_new > 0


def test_a_control_that_takes_the_whole_urn_is_drawn_for_certain():
    recipe = Recipe(depth=8, control_share=0.25, control_depth=9)
    table = build_pool_table({"a": frame({"q": "abcdefghi"})}, recipe)

    assert table.frame.filter(pl.col("origin") == "random")["probability"].to_list() == [1.0]
