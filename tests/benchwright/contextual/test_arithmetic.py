"""The number itself: against a reference's table, against average precision, and as a matrix."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.contextual.arithmetic import (
    contextual_precision,
    contextual_precisions,
    final_score,
    is_success,
)
from benchwright.judges.errors import CaseFormatError


def by_definition(relevant):
    """(1 / R) Σ R_k / k in fractions."""
    ranks = [k for k, is_relevant in enumerate(relevant, start=1) if is_relevant]
    if not ranks:
        return Fraction(0)
    return sum(Fraction(sum(relevant[:k]), k) for k in ranks) / len(ranks)


@pytest.mark.data
@pytest.mark.parametrize(("strict", "n_rows"), [(False, 511), (True, 16)], ids=["binary", "strict"])
def test_agrees_with_the_reference_on_every_short_list(data, strict, n_rows):
    report = json.loads((data / "seed_conformance" / "contextual_precision.json").read_text())
    rows = report["strict" if strict else "binary"]

    assert len(rows) == n_rows
    for row in rows:
        raw = contextual_precision([bool(verdict) for verdict in row["verdicts"]])
        assert final_score(raw, strict_mode=strict) == pytest.approx(row["score"], abs=1e-12)
        assert is_success(raw, 0.5, strict_mode=strict) is row["success"]


@given(st.lists(st.booleans(), max_size=40))
def test_is_the_mean_of_precisions_at_relevant_ranks(relevant):
    assert contextual_precision(relevant) == pytest.approx(
        float(by_definition(relevant)), abs=1e-12
    )


@given(st.lists(st.lists(st.booleans(), max_size=12), max_size=20))
def test_rows_of_a_matrix_are_the_single_scores(cases):
    matrix = np.zeros((len(cases), 12), dtype=bool)
    for row, relevant in zip(matrix, cases, strict=True):
        row[: len(relevant)] = relevant

    single = [contextual_precision(relevant) for relevant in cases]
    assert contextual_precisions(matrix).tolist() == pytest.approx(single, abs=1e-12)


def test_matrix_larger_than_a_block_is_scored_to_its_last_row(monkeypatch):
    monkeypatch.setattr("benchwright.contextual.arithmetic.ROWS_AT_ONCE", 7)
    matrix = np.random.default_rng(3).random((50, 9)) < 0.3

    assert contextual_precisions(matrix).tolist() == pytest.approx(
        [contextual_precision(row) for row in matrix.tolist()], abs=1e-12
    )


def test_rows_may_be_lists():
    assert contextual_precisions([[True, False], [False, True]]).tolist() == [1.0, 0.5]


WRONG = [np.zeros(3, dtype=bool), np.ones((2, 2)), [[1, 0], [0, 1]], [[True], [True, False]], []]


@pytest.mark.parametrize("wrong", WRONG)
def test_anything_but_a_matrix_of_booleans_is_refused(wrong):
    with pytest.raises(CaseFormatError, match="a matrix of booleans"):
        contextual_precisions(wrong)


@pytest.mark.parametrize(
    ("raw", "threshold", "strict", "score", "success"),
    [
        (0.5, 0.5, False, 0.5, True),
        (0.4999, 0.5, False, 0.4999, False),
        (0.9, None, False, 0.9, None),
        (0.9, 0.5, True, 0.0, False),
        (1.0, 0.5, True, 1.0, True),
        (1.0, None, True, 1.0, True),
        (0.0, 0.0, False, 0.0, True),
    ],
)
def test_threshold_and_strict_mode(raw, threshold, strict, score, success):
    assert final_score(raw, strict_mode=strict) == score
    assert is_success(raw, threshold, strict_mode=strict) is success
