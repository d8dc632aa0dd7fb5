import numpy as np
import pytest

from benchwright import evaluate
from benchwright.comparison.aligning import align
from benchwright.errors import (
    MissingValueError,
    NoCommonMeasureError,
    ReservedSliceError,
    RunsDifferError,
    TooFewQueriesError,
    TooFewRunsError,
    UnknownMeasureError,
)

A = {"q1": {"RR": 1.0, "nDCG@10": 0.5}, "q2": {"RR": 0.2, "nDCG@10": 0.1}}
B = {"q2": {"nDCG@10": 0.3, "RR": 0.4}, "q1": {"nDCG@10": 0.7, "RR": 0.5}}


def test_values_stand_by_query_run_and_measure():
    aligned = align({"a": A, "b": B})

    assert (aligned.runs, aligned.measures) == (("a", "b"), ("RR", "nDCG@10"))
    assert aligned.values.tolist() == [[[1.0, 0.5], [0.5, 0.7]], [[0.2, 0.1], [0.4, 0.3]]]


def test_evaluations_are_taken_as_they_are():
    qrels = {b"q1": {b"d1": 1}, b"q2": {b"d2": 1}}
    of_a = evaluate(qrels, {b"q1": [(b"d1", 1.0)]}, ["RR", "P@1"])

    aligned = align({"a": of_a, "b": of_a}, measures=["recip_rank"])

    assert aligned.measures == ("RR",)
    assert aligned.values[:, 0, 0].tolist() == [1.0, 0.0]


def test_ids_of_files_are_those_of_slices_families_and_other_runs():
    in_bytes = {query.encode(): row for query, row in A.items()}

    aligned = align({"a": in_bytes, "b": B}, slices={"one": ["q1"]}, families={"q1": 7, "q2": 7})

    assert aligned.slices["one"].tolist() == [True, False]
    assert aligned.families.tolist() == [0, 0]
    assert aligned.notes == ()


def test_only_common_measures_are_compared():
    less = {query: {"RR": row["RR"], "AP": 0.0} for query, row in A.items()}

    assert align({"a": A, "b": less}).measures == ("RR",)


@pytest.mark.parametrize(
    ("runs", "error", "message"),
    [
        ({"a": A}, TooFewRunsError, "1 run to compare; expected at least two"),
        (
            {"a": {"q1": A["q1"]}, "b": {"q1": B["q1"]}},
            TooFewQueriesError,
            "have 1 query in common",
        ),
        ({"a": {}, "b": {}}, TooFewQueriesError, "have 0 query"),
        (
            {"a": A, "b": {"q1": B["q1"]}},
            RunsDifferError,
            "Run 'b' has no value for 1 of the queries of 'a': 'q2'",
        ),
        (
            {"a": A, "b": {**B, b"q\xff": B["q1"]}},
            RunsDifferError,
            r"Run 'a' has no value for 1 of the queries of 'b': 'q\xff'",
        ),
        (
            {"a": A, "b": {query: {"AP": 0.5} for query in B}},
            NoCommonMeasureError,
            "a has RR, nDCG@10; b has AP",
        ),
        (
            {"a": A, "b": {**B, "q2": {"RR": 0.1}}},
            MissingValueError,
            "Run 'b', query 'q2': no value of nDCG@10",
        ),
    ],
)
def test_runs_that_cannot_be_compared(runs, error, message):
    with pytest.raises(error) as raised:
        align(runs)

    assert message in str(raised.value)


def test_measure_that_a_run_lacks_is_named():
    with pytest.raises(MissingValueError, match="Run 'a', query 'q1': no value of P@5"):
        align({"a": A, "b": B}, measures=["P@5"])
    with pytest.raises(UnknownMeasureError, match="'nDGC@10'"):
        align({"a": A, "b": B}, measures=["nDGC@10"])


def test_slices_are_masks_and_unknown_queries_are_told():
    aligned = align({"a": A, "b": B}, slices={"head": {"q2", "q7", "q8"}, "tail": ["q1"]})

    assert {name: mask.tolist() for name, mask in aligned.slices.items()} == {
        "all": [True, True],
        "head": [False, True],
        "tail": [True, False],
    }
    assert aligned.notes == ("Slice 'head': 2 of its 3 queries are not compared.",)


def test_slice_may_not_be_called_all():
    with pytest.raises(ReservedSliceError, match="Give it another name"):
        align({"a": A, "b": B}, slices={"all": ["q1"]})


def test_query_without_a_family_is_one_of_its_own_and_told():
    values = {f"q{i}": {"RR": 0.5} for i in range(6)}

    # "q3" is in no family; a family of that name is another one.
    aligned = align({"a": values, "b": values}, families={"q0": "q3", "q1": "x", "q2": "q3"})

    assert aligned.families.tolist() == [0, 1, 0, 2, 3, 4]
    assert aligned.notes == (
        "3 of 6 queries are in no family, and count as one each: 'q3', 'q4', 'q5'.",
    )


@pytest.mark.parametrize(("n", "more"), [(3, ""), (4, " …")])
def test_three_queries_without_a_family_are_named_and_more_are_hinted_at(n, more):
    values = {f"q{i}": {"RR": 0.5} for i in range(n + 1)}

    (note,) = align({"a": values, "b": values}, families={"q0": "x"}).notes

    assert note.startswith(f"{n} of {n + 1} queries")
    assert note.endswith(f"'q1', 'q2', 'q3'{more}.")


def test_three_missing_queries_are_named_and_all_counted():
    whole = {f"q{i}": {"RR": 0.5} for i in range(6)}

    with pytest.raises(RunsDifferError) as raised:
        align({"a": whole, "b": {"q0": whole["q0"], "q1": whole["q1"]}})

    assert "no value for 4 of the queries of 'a': 'q2', 'q3', 'q4'" in str(raised.value)
    assert "q5" not in str(raised.value)


def test_two_queries_are_enough_and_a_third_run_is_held_to_the_first():
    assert align({"a": A, "b": B}).values.shape == (2, 2, 2)
    with pytest.raises(RunsDifferError, match="Run 'c' has no value for 1"):
        align({"a": A, "b": B, "c": {"q1": A["q1"]}})


def test_measures_stand_once_in_the_order_asked_for():
    assert align({"a": A, "b": B}, measures=["nDCG@10", "recip_rank", "RR"]).measures == (
        "nDCG@10",
        "RR",
    )


def test_nothing_is_told_when_all_have_a_family():
    aligned = align({"a": A, "b": B}, families={"q1": 1, "q2": 1, "q9": 2})

    assert np.array_equal(aligned.families, [0, 0])
    assert aligned.notes == ()
