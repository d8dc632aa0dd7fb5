"""Unjudged documents: by hand, and against a look at every row."""

from math import log2
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.evaluation.stored_hits import Hole, ScoreFiles, query_holes


def written(folder: Path, run: dict[str, list[str]], grades: dict[str, dict[str, int]]):
    """A stored run and its score files, as scoring writes them."""
    rows = [(q, d, rank) for q in sorted(run) for rank, d in enumerate(run[q], start=1)]
    schema = {"qid": pl.String, "docid": pl.String, "rank": pl.Int32}
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(folder / "run.parquet")
    hits = [(q, rank, grades[q][d]) for q, d, rank in rows if d in grades.get(q, {})]
    schema = {"qid": pl.String, "rank": pl.UInt32, "grade": pl.Int32}
    pl.DataFrame(hits, schema=schema, orient="row").write_parquet(folder / "hits.parquet")
    pl.DataFrame({"qid": sorted(grades)}, schema={"qid": pl.String}).write_parquet(
        folder / "per_query.parquet"
    )
    return folder / "run.parquet", ScoreFiles(folder / "per_query.parquet", folder / "hits.parquet")


RUN = {"q1": ["a", "b", "c"], "q2": ["a", "x"], "q3": ["z"], "ungraded": ["a"]}
GRADES = {"q1": {"a": 1, "b": -1}, "q2": {"a": 0, "x": 2}, "q3": {}, "absent": {"a": 1}}


def test_holes_are_unjudged_ranks_and_what_is_at_stake_stands_first(tmp_path):
    first, second = query_holes(*written(tmp_path, RUN, GRADES))

    # One at rank 1 is worth 1; those at ranks 2 and 3 are worth 0.631 and 0.5.
    assert (first.qid, first.holes, first.n_top) == ("q1", (Hole(2, "b"), Hole(3, "c")), 3)
    assert (second.qid, second.holes, second.at_stake) == ("q3", (Hole(1, "z"),), 1.0)
    assert first.at_stake == pytest.approx(1 / log2(3) + 0.5)


@pytest.mark.parametrize(
    ("options", "qids"),
    [({"depth": 1}, ["q3"]), ({"without": {"q1"}}, ["q3"]), ({"only": "q1"}, ["q1"])],
)
def test_depth_and_queries_can_be_chosen(tmp_path, options, qids):
    assert [
        query_hole.qid for query_hole in query_holes(*written(tmp_path, RUN, GRADES), **options)
    ] == qids


DOCS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    run=st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), DOCS),
    grades=st.dictionaries(
        st.sampled_from(["q1", "q2", "q3"]),
        st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 2)),
    ),
    depth=st.integers(1, 8),
)
def test_holes_are_those_that_a_look_at_every_row_finds(tmp_path, run, grades, depth):
    expected = {
        (qid, rank, docid)
        for qid in run.keys() & grades.keys()
        for rank, docid in enumerate(run[qid][:depth], start=1)
        if grades[qid].get(docid, -1) < 0
    }

    result = query_holes(*written(tmp_path, run, grades), depth=depth)

    assert {(query.qid, *hole) for query in result for hole in query.holes} == expected
