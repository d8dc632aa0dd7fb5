"""Result files: what is in them, byte for byte the same, and what counts as a difference."""

import hashlib
import json
from math import nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import MissingFileError, ResultFormatError
from benchwright.evaluation.results import (
    as_json,
    differences,
    located,
    read_result,
    result_of,
    stored_rules,
)
from benchwright.evaluation.scorecards import Files, Rules, Scorer

QRELS = b"q1 0 d1 3\nq1 0 d2 1\n\xff 0 d4 2\n"
RUN = b"q1 Q0 d1 1 3.0 tag\nq9 Q0 d1 1 1 tag\n"

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@pytest.fixture
def scorer(tmp_path):
    for name, content in (("qrels", QRELS), ("run", RUN)):
        (tmp_path / name).write_bytes(content)
    return Scorer(Files(tmp_path / "qrels"), Rules(measures=("RR", "Judged@10")))


@pytest.fixture
def result(scorer, tmp_path):
    return result_of(scorer, [scorer.score(tmp_path / "run")], folder=tmp_path)


def test_result_holds_files_rules_and_every_value(result):
    (run,) = result["runs"]

    assert result["files"] == {
        "qrels": {"file": "qrels", "path": "qrels", "sha256": hashlib.sha256(QRELS).hexdigest()}
    }
    assert run["sha256"] == hashlib.sha256(RUN).hexdigest()
    assert (run["n_queries"], run["n_missing"], run["n_extra"]) == (2, 1, 1)
    assert run["means"] == {"RR": 0.5, "Judged@10": 1.0}
    assert run["n_undefined"] == {"RR": 0, "Judged@10": 1}
    # What is undefined is null, and a byte that is no UTF-8 can be had back.
    assert run["per_query"] == {
        "q1": {"RR": 1.0, "Judged@10": 1.0},
        "\udcff": {"RR": 0.0, "Judged@10": None},
    }
    assert result["rules"] == {**Rules()._asdict(), "measures": ["RR", "Judged@10"]}
    assert set(result["made_by"]) == {"scorer", "version", "python", "scanner"}


def test_text_is_sorted_plain_json_that_reads_back_the_same(result):
    text = as_json(result)

    assert text.isascii()
    assert json.loads(text) == result
    assert text == as_json(dict(reversed(result.items())))


def test_paths_are_relative_to_the_folder_of_the_result(scorer, tmp_path):
    elsewhere = tmp_path / "results" / "today"
    elsewhere.mkdir(parents=True)

    result = result_of(scorer, [scorer.score(tmp_path / "run")], folder=elsewhere)

    assert result["runs"][0]["path"] == "../../run"
    assert located(result["runs"][0], elsewhere, None) == elsewhere / "../../run"


def test_file_is_where_it_was_or_where_it_is_said_to_be(tmp_path):
    here = tmp_path / "here"
    here.write_text("")

    assert located({"path": "here"}, tmp_path, None) == here
    assert located({"path": "gone"}, tmp_path, here) == here
    with pytest.raises(MissingFileError, match="Put it back"):
        located({"path": "gone"}, tmp_path, None)


def test_rules_are_read_back(result):
    assert stored_rules(result, "x") == Rules(measures=("RR", "Judged@10"))


def test_result_from_before_there_was_a_rule_for_unlisted_documents_is_read(result):
    del result["rules"]["unlisted"]

    assert stored_rules(result, "x").unlisted == "unknown"


@pytest.mark.parametrize(("seed", "has_intervals"), [(None, False), (7, True)])
def test_result_with_a_seed_of_intervals_is_read(result, seed, has_intervals):
    for name in ("unlisted", "has_intervals", "seed"):
        del result["rules"][name]
    result["rules"]["interval_seed"] = seed

    rules = stored_rules(result, "x")

    assert (rules.has_intervals, rules.seed) == (has_intervals, seed or 0)


def test_rules_that_are_not_known_here_are_refused(result):
    result["rules"]["luck"] = 1

    with pytest.raises(ResultFormatError, match=r"^x has rules other than aggregate, allow_empty"):
        stored_rules(result, "x")


def test_file_of_another_version_is_refused(result, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(as_json({**result, "version": 2}))

    with pytest.raises(ResultFormatError, match=r"result\.json is of version 2; expected 1"):
        read_result(path)


@given(values)
def test_nothing_differs_from_itself(value):
    assert list(differences(value, json.loads(json.dumps(value)))) == []


@given(values, values)
def test_difference_is_told_where_there_is_one_and_only_there(one, other):
    are_same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)

    assert (list(differences(one, other)) == []) == are_same


@pytest.mark.parametrize(
    ("stored", "computed", "words"),
    [
        (
            {"a": 1.0},
            {"a": 1.0000000000000002},
            ["a: 1.0 in the file, 1.0000000000000002 computed"],
        ),
        ({"a": None}, {"a": 0.0}, ["a: null in the file, 0.0 computed"]),
        ({"a": 1}, {}, ["a: 1 in the file, not computed"]),
        ({"a": 0}, {"a": False}, ["a: 0 in the file, false computed"]),
        ({"a": 0.0}, {"a": -0.0}, ["a: 0.0 in the file, -0.0 computed"]),
        ({"a": [1, 2]}, {"a": [1, 3]}, ["a: [1, 2] in the file, [1, 3] computed"]),
    ],
)
def test_difference_names_the_place_and_both_sides(stored, computed, words):
    assert list(differences(stored, computed)) == words


def test_undefined_numbers_never_reach_the_file():
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json({"a": nan})


def test_result_is_a_pure_function_of_files_and_rules(scorer, tmp_path, result):
    again = Scorer(Files(Path(tmp_path / "qrels")), scorer.rules)

    assert result_of(again, [again.score(tmp_path / "run")], folder=tmp_path) == result
