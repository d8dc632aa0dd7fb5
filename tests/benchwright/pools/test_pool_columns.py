"""Pools in columns are the pools of the plain reference: entries, queue and digest."""

import polars as pl
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from benchwright.pools import Extras, Recipe, Stratum, build_pool, columns
from benchwright.pools.columns import build_pool_table
from benchwright.pools.errors import PoolError, PoolRunError
from tests.examples import examples

SCHEMA = {"qid": pl.String(), "docid": pl.String(), "rank": pl.Int64()}
# Ids that JSON escapes, that begin like each other, and that are no ASCII.
QIDS = ["q1", "q10", 'q"', "文"]
DOCIDS = [*"abcdefgh", "a\\b", 'd"', "é", "\U0001f600"]

rankings = st.lists(
    st.sampled_from(QIDS).flatmap(
        lambda qid: st.lists(st.sampled_from(DOCIDS), unique=True, max_size=12).map(
            lambda docids: [(qid, docid, rank) for rank, docid in enumerate(docids, start=1)]
        )
    ),
    max_size=4,
    unique_by=lambda rows: rows[0][0] if rows else "",
).map(lambda parts: [row for part in parts for row in part])
runs_of = st.dictionaries(st.sampled_from(["bm25", "dense", 'r"', "ü", "z"]), rankings, max_size=4)
shares = st.sampled_from([1.0, 0.25, 0.1 + 0.2])
drawn = st.dictionaries(st.tuples(st.sampled_from(QIDS), st.sampled_from(DOCIDS)), shares)
pairs = st.lists(st.tuples(st.sampled_from(QIDS), st.sampled_from(DOCIDS)), max_size=6)
strata = st.sampled_from([(Stratum(2, 1.0), Stratum(5, 0.5)), (Stratum(1, 0.3), Stratum(9, 0.9))])
recipes = st.builds(
    Recipe,
    strategy=st.sampled_from(["depth-k", "layered", "stratified", "top-up", "manual", "estimate"]),
    order=st.sampled_from(["layered", "rrf", "rbp", "mtf", "maxmean", "doubt"]),
    depth=st.integers(1, 6),
    strata=strata,
    control_share=st.sampled_from([0.0, 0.05, 0.5]),
    control_depth=st.sampled_from([4, 200]),
    control_run=st.sampled_from(["", "bm25"]),
    carry=st.booleans(),
    seed=st.integers(0, 3),
)


def fitting(recipe, budget):
    values = {name: getattr(recipe, name) for name in Recipe.__slots__}
    values["budget"] = budget if recipe.strategy == "layered" else None
    if recipe.strategy == "estimate":
        values |= {"labels": budget, "control_share": 0.0}
    if recipe.strategy == "top-up" and budget > 3:
        values["order"] = "listed"
    return Recipe(**values)


def as_frame(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def outcome(build):
    try:
        return build()
    except PoolError as error:
        return type(error), str(error)


@settings(max_examples=examples(150))
@given(
    runs_of,
    recipes,
    st.integers(1, 6),
    st.builds(
        Extras,
        judged=pairs.map(frozenset),
        manual=pairs.map(frozenset),
        candidates=pairs,
        drawn=drawn,
    ),
    st.sampled_from([None, {"q1", "文"}]),
    st.sampled_from([1, 10_000]),
    st.randoms(use_true_random=False),
)
def test_columns_and_the_plain_reference_agree(runs, recipe, budget, extras, queries, at_once, rng):
    recipe = fitting(recipe, budget)
    keys = list(runs)
    rng.shuffle(keys)
    frames = {key: as_frame(rng.sample(runs[key], len(runs[key]))) for key in keys}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(columns, "ROWS_AT_ONCE", at_once)
        table = outcome(
            lambda: build_pool_table(frames, recipe, queries=queries, extras=extras).built()
        )

    event(type(table).__name__)
    assert table == outcome(lambda: build_pool(runs, recipe, queries=queries, extras=extras))


@pytest.mark.parametrize(
    "rows",
    [[("q", "a", 0)], [("q", "a", 1), ("q", "a", 2)]],
)
def test_a_ranking_that_is_none_is_refused_as_the_reference_does(rows):
    with pytest.raises(PoolRunError) as plain:
        build_pool({"bad": rows}, Recipe(depth=5))
    with pytest.raises(PoolRunError) as columnar:
        build_pool_table({"bad": as_frame(rows)}, Recipe(depth=5))

    assert str(columnar.value) == str(plain.value)


def test_most_doubtful_first_moves_documents_within_their_queries_alone():
    rows = [(f"q{q}", f"d{d}", d + 1) for q in range(3) for d in range(4)]
    table = build_pool_table({"a": as_frame(rows)}, Recipe(order="doubt", seed=1))

    doubtful = table.by_doubt(lambda _, docid: {"d2": 0.9, "d1": 0.1000000001}.get(docid, 0.1))

    before, after = table.built(), doubtful.built()
    assert [entry.qid for entry in after.entries] == [entry.qid for entry in before.entries]
    assert [entry.docid for entry in after.entries] == ["d2", "d0", "d1", "d3"] * 3
    assert {*map(repr, after.entries)} == {*map(repr, before.entries)}
    assert after.digest == before.digest
