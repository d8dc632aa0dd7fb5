"""What a run says of its system, however it is written."""

import pytest

from benchwright.runs.facts import is_trained_on, system_type


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, ""),
        ({"type": "Dense"}, "dense"),
        ({"System-Type": " hybrid "}, "hybrid"),
        ({"model": "bm25", "k1": 0.9}, ""),
        ({"ir_metadata": {"method": {"type": "sparse"}}}, "sparse"),
        ({"type": None}, ""),
    ],
)
def test_type_is_found_however_its_key_is_written(metadata, expected):
    assert system_type(metadata) == expected


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, False),
        ({"training sets": "MS MARCO, SciFact"}, True),
        ({"training_sets": ["msmarco", "scifact"]}, True),
        ({"training sets": "scifact-like"}, True),
        ({"training sets": "scifactoid"}, False),
        ({"training sets": "ms marco"}, False),
        ({"description": "not trained on scifact"}, False),
        ({"contaminated": "yes"}, True),
        ({"contaminated": "no"}, False),
        ({"ir_metadata": {"data": {"training set": ["SCIFACT"]}}}, True),
    ],
)
def test_training_sets_that_name_the_benchmark_are_found(metadata, expected):
    assert is_trained_on(metadata, ["scifact", "Scientific claims"]) is expected


def test_a_name_of_signs_is_no_pattern():
    assert not is_trained_on({"training sets": "anything"}, [".*"])
    assert is_trained_on({"training sets": "C++ answers"}, ["c++"])
