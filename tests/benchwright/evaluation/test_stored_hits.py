"""Hits that were stored give every number the run gives, and spare reading it again."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright import evaluate, evaluate_hits
from benchwright.errors import Problems
from benchwright.evaluation.stored_hits import (
    read_hits,
    rescan_stored_run,
    scan_stored_run,
    unchanged_queries,
    write_score_files,
)
from benchwright.reading.hits import Judged
from benchwright.runs import store as run_store
from benchwright.runs.store import write_run
from tests.examples import examples

QIDS, DOCIDS = ["a", "b", "q1", "q10", "ü"], ["d1", "d2", "ä", "Z"]
QRELS = st.dictionaries(
    st.sampled_from(QIDS),
    st.dictionaries(st.sampled_from(DOCIDS), st.integers(-1, 3), min_size=1),
    min_size=1,
)
RUNS = st.dictionaries(
    st.sampled_from([*QIDS, "extra"]),
    st.dictionaries(st.sampled_from([*DOCIDS, "x"]), st.sampled_from([0.5, 1.0]), min_size=1),
    min_size=1,
)
NAMES = ["nDCG(dcg='exp-log2')@3", "AP(rel=2)", "R@1", "Judged@2", "bpref", "NumRet"]


def stored(run: dict, folder: Path) -> Path:
    rows = [
        (line, qid, docid, score)
        for line, (qid, docid, score) in enumerate(
            ((qid, docid, score) for qid, of in run.items() for docid, score in of.items()), 1
        )
    ]
    return write_run(rows, directory=folder, problems=Problems(), file="run").parquet


def judged(qrels: dict) -> dict[str, Judged]:
    return {qid: Judged(tuple(grades.values())) for qid, grades in qrels.items()}


def scored(parquet: Path, qrels: dict, folder: Path, names: tuple[str, ...] = ("AP",)):
    hits = scan_stored_run(parquet, qrels)
    return write_score_files(
        evaluate_hits(judged(qrels), hits, names, allow_empty=True), hits, folder
    )


@settings(max_examples=40, deadline=None)
@given(QRELS, RUNS)
def test_any_measure_of_stored_hits_is_that_of_the_run(tmp_path_factory, qrels, run):
    folder = tmp_path_factory.mktemp("stored")
    files = scored(stored(run, folder), qrels, folder)

    later = evaluate_hits(judged(qrels), read_hits(files), NAMES, allow_empty=True)

    direct = evaluate(qrels, run, NAMES, allow_empty=True)
    assert repr(dict(later.per_query)) == repr(dict(direct.per_query))
    assert repr(dict(later.means)) == repr(dict(direct.means))
    assert later.n_missing == direct.n_missing


@settings(max_examples=examples(60), deadline=None)
@given(QRELS, QRELS, RUNS)
def test_rescan_gives_the_hits_of_a_whole_scan(tmp_path_factory, before, after, run):
    folder = tmp_path_factory.mktemp("stored")
    parquet = stored(run, folder)
    files = scored(parquet, before, folder)

    result = rescan_stored_run(
        parquet, after, earlier=files, unchanged=unchanged_queries(before, after)
    )

    whole = scan_stored_run(parquet, after)
    assert result == {qid: hits for qid, hits in whole.items() if qid in after}


BEFORE = {"a": {"d1": 1}, "b": {"d1": 1, "d2": 0}, "ü": {"ä": 2}}
RUN = {qid: {"d1": 2.0, "d2": 1.0, "ä": 0.5} for qid in QIDS}


@pytest.mark.parametrize(
    ("changes", "read"),
    [
        ({}, None),
        ({"b": {"d1": 2, "d2": 0}}, {"b"}),
        ({"b": {"d1": 1}}, {"b"}),
        ({"b": {"d1": 1, "d2": 0, "x": 0}}, {"b"}),
        ({"q1": {"d1": 1}}, {"q1"}),
        ({"q1": {"d1": 1}, "ü": {"ä": 1}}, {"q1", "ü"}),
    ],
)
def test_only_changed_queries_are_read(tmp_path, monkeypatch, changes, read):
    parquet = stored(RUN, tmp_path)
    files = scored(parquet, BEFORE, tmp_path)
    asked = []
    whole = run_store.hits_against
    monkeypatch.setattr(
        "benchwright.evaluation.stored_hits.hits_against",
        lambda path, qrels, *, only=None: asked.append(set(only)) or whole(path, qrels, only=only),
    )
    after = BEFORE | changes

    hits = rescan_stored_run(
        parquet, after, earlier=files, unchanged=unchanged_queries(BEFORE, after)
    )

    assert asked == ([read] if read else [])
    assert hits.keys() == after.keys()


def test_measure_of_stored_hits_opens_no_run(tmp_path):
    parquet = stored(RUN, tmp_path)
    files = scored(parquet, BEFORE, tmp_path)
    parquet.unlink()

    later = evaluate_hits(judged(BEFORE), read_hits(files), ["R@1"])

    assert later.means["R@1"] == pytest.approx(2 / 3)


def test_row_groups_of_unchanged_queries_are_not_read(tmp_path, monkeypatch):
    """What polars itself says it read, of ten row groups with one query each."""
    monkeypatch.setattr(run_store, "GROUP_ROWS", 3)
    qids = [f"q{number}" for number in range(10)]
    parquet = stored(dict.fromkeys(qids, RUN["a"]), tmp_path)
    code = (
        "from pathlib import Path; from benchwright.evaluation.stored_hits import scan_stored_run;"
        f"print(len(scan_stored_run(Path({str(parquet)!r}),"
        " {'q3': {'d1': 1}, 'q7': {'d1': 1}}, only=['q3', 'q7'])))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "POLARS_VERBOSE": "1"},
    )

    assert done.stdout.strip() == "2"
    matches = re.findall(r"reading (\d+) / (\d+) row groups", done.stderr)
    assert matches, "polars tells no more how much it reads: find out anew how to count it"
    assert set(matches) == {("2", "10")}
