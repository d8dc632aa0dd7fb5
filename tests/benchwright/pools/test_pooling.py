import random
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.pools import DEPTH_K, Recipe, build_pool, expected_hours
from benchwright.pools.drawing import drawn
from benchwright.pools.errors import EmptyPoolError, PoolRecipeError, PoolRunError
from benchwright.pools.recipe import STRATIFIED, Stratum
from benchwright.recipes.parameters import ParameterError

RUNS = {
    "bm25": [("q1", "a", 1), ("q1", "b", 2), ("q1", "c", 3), ("q2", "x", 1)],
    "dense": [("q1", "b", 1), ("q1", "d", 2), ("q1", "a", 3), ("q2", "y", 1)],
}


def pool(runs=RUNS, depth=2, seed=1, **options):
    return build_pool(runs, Recipe(strategy=DEPTH_K, depth=depth, seed=seed), **options)


def by_pair(entries):
    return {entry.pair: entry for entry in entries}


def test_a_pool_is_the_union_of_the_first_k_with_contributors_and_best_rank():
    entries = by_pair(pool().entries)

    assert set(entries) == {("q1", "a"), ("q1", "b"), ("q1", "d"), ("q2", "x"), ("q2", "y")}
    assert entries["q1", "b"].contributors == {"bm25": 2, "dense": 1}
    assert entries["q1", "b"].best_rank == 1
    assert entries["q1", "a"].contributors == {"bm25": 1}  # dense has it below the depth


def test_only_the_queries_asked_for_are_pooled():
    assert {entry.qid for entry in pool(queries={"q2"}).entries} == {"q2"}


def test_each_query_stands_together_and_its_layers_ascend():
    rng = random.Random(2)
    runs = {
        f"run{r}": [
            (f"q{q}", f"d{d}", rank)
            for q in range(8)
            for rank, d in enumerate(rng.sample(range(40), 10), start=1)
        ]
        for r in range(4)
    }

    entries = pool(runs, depth=10).entries

    order = list(dict.fromkeys(entry.qid for entry in entries))
    assert [entry.qid for entry in entries] == sorted(
        (entry.qid for entry in entries), key=order.index
    )
    for qid in order:
        layers = [entry.best_rank for entry in entries if entry.qid == qid]
        assert layers == sorted(layers)
        assert layers[0] == 1


def wide(n):
    return {
        "r": [(f"q{q:02}", f"d{q}", 1) for q in range(n)],
        **{f"s{d}": [("q00", f"e{d}", 1)] for d in range(n)},
    }


def test_queries_and_layers_are_shuffled_by_the_seed():
    first, again, other = (pool(wide(30), depth=1, seed=seed) for seed in (1, 1, 2))

    def queries(made):
        return list(dict.fromkeys(entry.qid for entry in made.entries))

    def layer(made):
        return [entry.docid for entry in made.entries if entry.qid == "q00"]

    assert first.entries == again.entries
    assert queries(first) != queries(other)
    assert layer(first) != layer(other)
    assert queries(first) != sorted(queries(first))
    assert layer(first) != sorted(layer(first))


def test_the_order_is_the_written_one_on_every_machine():
    """The order that BLAKE2b gives; another one would reshuffle the queues of running pools."""
    assert [entry.pair for entry in pool(depth=3, seed=7).entries] == [
        ("q2", "x"),
        ("q2", "y"),
        ("q1", "b"),
        ("q1", "a"),
        ("q1", "d"),
        ("q1", "c"),
    ]


def test_the_digest_is_the_written_one_on_every_machine():
    lines = [
        '["depth-k",1,7,["a","b"]]',
        '["q1","d1",[["a",1]]]',
        '["q1","文",[["b",1]]]',
        '["q10","d1",[["a",1],["b",1]]]',
    ]
    runs = {"b": [("q10", "d1", 1), ("q1", "文", 1)], "a": [("q1", "d1", 1), ("q10", "d1", 1)]}

    digest = pool(runs, depth=1, seed=7).digest

    assert digest == sha256("".join(line + "\n" for line in lines).encode()).hexdigest()


@given(st.randoms(use_true_random=False))
def test_digest_and_queue_do_not_depend_on_the_order_of_the_input(rng):
    keys = list(RUNS)
    rng.shuffle(keys)
    shuffled = {key: rng.sample(RUNS[key], len(RUNS[key])) for key in keys}

    assert pool(shuffled) == pool()


@pytest.mark.parametrize(
    "other",
    [
        {"depth": 3},
        {"seed": 2},
        {"runs": {**RUNS, "empty": []}},
        {"runs": {"bm26": RUNS["bm25"], "dense": RUNS["dense"]}},
        {"runs": {**RUNS, "bm25": [("q1", "b", 1), ("q1", "a", 2), ("q2", "x", 1)]}},
        {"queries": {"q1"}},
    ],
)
def test_another_input_is_another_digest(other):
    assert pool(**other).digest != pool().digest


def test_ids_cannot_be_shifted_across_their_borders_in_the_digest():
    left = pool({"r": [("a", 'b","c', 1)]})
    right = pool({"r": [('a","b', "c", 1)]})

    assert left.digest != right.digest


def test_rows_below_the_depth_change_nothing():
    assert pool({**RUNS, "bm25": [*RUNS["bm25"], ("q1", "far", 99)]}) == pool()


def test_a_depth_below_one_is_refused():
    with pytest.raises(ParameterError, match="depth is 0; expected a whole number from 1 to 1,000"):
        pool(depth=0)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("q", "a", 0)], "rank 0 is below 1"),
        ([("q", "a", 1), ("q", "a", 2)], "it is there twice, at ranks 1 and 2"),
    ],
)
def test_a_ranking_that_is_none_is_refused_naming_run_query_and_document(rows, words):
    with pytest.raises(PoolRunError, match=f"Run bad, query q, document a: {words}"):
        pool({"bad": rows})


@pytest.mark.parametrize("options", [{"runs": {}}, {"queries": {"q9"}}, {"runs": {"r": []}}])
def test_a_pool_of_nothing_is_refused(options):
    with pytest.raises(EmptyPoolError, match="has a document for any of the queries"):
        pool(**options)


def test_hours_are_labels_times_median_seconds():
    assert expected_hours(120, median_seconds=30) == pytest.approx(1.0)


def test_a_group_without_a_place_of_its_own_is_drawn_from_with_the_largest():
    assert set(drawn("aaaaaaaab", 2, seed=1).values()) == {2 / 9}


@pytest.mark.parametrize(
    ("strata", "words"),
    [
        ((), "do not go deeper one by one"),
        ((Stratum(10, 1.0), Stratum(10, 0.5)), "do not go deeper one by one"),
        ((Stratum(10, 0.0),), "has the share 0.0; expected above 0"),
        ((Stratum(10, 1.1),), "has the share 1.1; expected above 0, at most 1"),
    ],
)
def test_strata_that_cannot_be_drawn_from_are_refused(strata, words):
    with pytest.raises(PoolRecipeError, match=words):
        Recipe(strategy=STRATIFIED, strata=strata).check()
