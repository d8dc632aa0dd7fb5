"""Result files of MTEB in each of their layouts, and what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import MtebFormatError
from benchwright.evaluation.mteb_results import parse_mteb

VALUES = {"main_score": 0.5, "ndcg_at_10": 0.5, "map_at_100": 0.4, "mrr_at_10": 0.6}
TASK = {
    "task_name": "SciFact",
    "dataset_revision": "abc",
    "mteb_version": "1.12.41",
    "evaluation_time": 3.5,
    "scores": {
        "test": [
            {
                "hf_subset": "default",
                "languages": ["eng-Latn"],
                **VALUES,
                "recall_at_100": 0.9,
                "precision_at_10": 0.1,
                "hit_rate_at_5": 1,
                "nauc_ndcg_at_10_max": 0.7,
            }
        ]
    },
}


def found_in(content) -> dict:
    values = parse_mteb(json.dumps(content).encode())
    return {(value.task, value.split, value.subset, value.measure): value.value for value in values}


def test_a_task_gives_its_values_by_our_names():
    assert found_in(TASK) == {
        ("SciFact", "test", "default", measure): value
        for measure, value in {
            "main_score": 0.5,
            "nDCG@10": 0.5,
            "AP@100": 0.4,
            "RR@10": 0.6,
            "R@100": 0.9,
            "P@10": 0.1,
            "Success@5": 1.0,
        }.items()
    }


def test_facts_of_the_file_come_along():
    (first, *_) = parse_mteb(json.dumps(TASK).encode())

    assert first.facts == {"dataset_revision": "abc", "mteb_version": "1.12.41"}
    assert first.model == ""


def test_splits_and_subsets_stay_apart():
    rows = [{"hf_subset": name, "main_score": value} for name, value in (("en", 0.1), ("de", 0.2))]
    result = found_in({"task_name": "T", "scores": {"dev": rows, "test": rows[:1]}})

    assert result == {
        ("T", "dev", "en", "main_score"): 0.1,
        ("T", "dev", "de", "main_score"): 0.2,
        ("T", "test", "en", "main_score"): 0.1,
    }


def test_all_tasks_of_a_model_name_it():
    whole = {"model_name": "a/b", "model_revision": "1", "task_results": [TASK]}

    for content in (whole, {"model_results": [whole]}):
        values = parse_mteb(json.dumps(content).encode())
        assert {(value.model, value.task) for value in values} == {("a/b", "SciFact")}


@pytest.mark.parametrize(
    ("split", "subset"), [(VALUES, "default"), ({"en": VALUES, "evaluation_time": 2.0}, "en")]
)
def test_the_older_layout_is_read(split, subset):
    old = {"mteb_dataset_name": "SciFact", "mteb_version": "1.0.2", "test": split}

    assert found_in(old)["SciFact", "test", subset, "nDCG@10"] == 0.5


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no JSON (it is empty)"),
        (b"{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[]", "a JSON list; expected an object with 'task_name'"),
        (b"3", "a JSON number"),
        (b"{}", "no 'task_name'"),
        (b'{"task_name": "T\\u0000"}', "a text in it holds U+0000 or half a character"),
        (
            b'{"task_name": "T", "scores": {"te\\ud800": [{"main_score": 1}]}}',
            "a text in it holds U+0000 or half a character; expected texts that can be stored",
        ),
        (b'{"task_name": "T"}', "no split has a value"),
        (b'{"task_name": "T", "scores": []}', "T: scores is a JSON list; expected an object"),
        (b'{"task_name": "T", "scores": {"test": {}}}', "scores.test is a JSON object"),
        (b'{"task_name": "T", "scores": {"test": [3]}}', "scores.test[0] is a JSON number"),
        (b'{"task_name": "T", "scores": {"test": [{}]}}', "neither 'main_score' nor a measure"),
        (
            b'{"task_name": "T", "scores": {"test": [{"main_score": "0.5"}]}}',
            'main_score is "0.5"; expected a number',
        ),
        (b'{"task_name": "T", "scores": {"test": [{"main_score": NaN}]}}', "main_score is NaN"),
        (b'{"task_name": "T", "scores": {"test": [{"main_score": true}]}}', "main_score is true"),
        (
            b'{"task_name": "T", "scores": {"test": [{"main_score": 1%s}]}}' % (b"0" * 400),
            "main_score is 1000000000",
        ),
        (b'{"task_results": {}}', "task_results is a JSON object; expected a list"),
        (b"[" * 100_000, "no JSON"),
    ],
)
def test_what_is_no_result_is_refused_with_what_was_expected(content, words):
    with pytest.raises(MtebFormatError) as refused:
        parse_mteb(content, file="my.json")

    assert str(refused.value).startswith("my.json: ")
    assert words in str(refused.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["task_name", "scores", "test", "main_score", "task_results", "ndcg_at_10"]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused(content):
    try:
        values = parse_mteb(json.dumps(content).encode())
    except MtebFormatError:
        return
    assert all(value.task and value.value == value.value for value in values)
