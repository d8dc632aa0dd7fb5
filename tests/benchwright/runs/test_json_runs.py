"""Runs that are one JSON object: the same rows as the `json` module has, with their lines."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.errors import Problems
from benchwright.files.inputs import FileInput
from benchwright.runs.json_runs import is_json_run, json_run_rows

IDS = st.text(st.characters(categories=["L", "N", "S", "P"], codec="utf-8"), min_size=1, max_size=8)
SCORES = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False)
RUNS = st.dictionaries(IDS, st.dictionaries(IDS, SCORES, max_size=4), max_size=4)


def rows_of(folder: Path, content: bytes):
    path = folder / "run.json"
    path.write_bytes(content)
    problems = Problems()
    rows = list(json_run_rows(FileInput(path), problems=problems))
    return rows, [(problem.line, problem.text) for problem in problems.found]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=RUNS, indent=st.sampled_from([None, 0, 3]), is_ascii=st.booleans())
def test_rows_are_those_that_json_itself_reads(tmp_path, run, indent, is_ascii):
    content = json.dumps(run, indent=indent, ensure_ascii=is_ascii).encode()

    rows, problems = rows_of(tmp_path, content)

    assert problems == []
    assert [(row.qid, row.docid, row.score) for row in rows] == [
        (qid, docid, float(score))
        for qid, ranking in run.items()
        for docid, score in ranking.items()
    ]
    assert is_json_run(content) == (not run or isinstance(next(iter(run.values())), dict))


def test_each_row_has_its_line(tmp_path):
    rows, _ = rows_of(tmp_path, b'\n{"q1": {\n "d1": 2,\n\n "d2": 1},\n"q2": {"d3": 1}}')

    assert [(row.line, row.docid) for row in rows] == [(3, "d1"), (5, "d2"), (6, "d3")]


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b'{"q": {"d": null}}', 1, "score of 'd' is null; expected a number"),
        (b'{"q": {\n"d": "1_0"}}', 2, "expected a number"),
        (b'{"q": {"d": true}}', 1, "score of 'd' is true"),
        (b'{"q": {"d": [1]}}', 1, "expected a score, which is a number"),
        (b'{"q": {"d": 1}\n"r": {}}', 2, "expected a comma or }"),
        (b'{"q": {"d": 1},}', 1, "expected a query in quotes"),
        (b'{"q": {"d": 1}} {}', 1, "expected nothing after the last }"),
        (b'{"q": {"d\\x": 1}}', 1, "expected a text in quotes"),
        (b'{"q": {"a b": 1}}', 1, "the id holds white space"),
        (b'{"q": {"\\ud800": 1}}', 1, "lone surrogate"),
        (b'{"": {"d": 1}}', 1, "the id is empty"),
        (b'{"q": {"\xc3\xa9": 1,\n"d\xff": 1}}', 2, "byte 0xFF is not UTF-8"),
    ],
)
def test_problem_is_told_with_its_line(tmp_path, content, line, words):
    _, problems = rows_of(tmp_path, content)

    assert problems[0][0] == line
    assert words in problems[0][1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=RUNS.filter(bool), cut=st.data())
def test_object_that_is_cut_short_is_never_taken_as_whole(tmp_path, run, cut):
    content = json.dumps(run).encode()
    end = cut.draw(st.integers(1, len(content) - 1))

    _, problems = rows_of(tmp_path, content[:end])

    assert problems
