"""The parts of the report, next to the coefficients of the labels that they are about."""

import json

import numpy as np
import pytest

from benchwright.agreement import report
from benchwright.agreement.coefficients import Level, krippendorff, percent_agreement
from benchwright.agreement.labels import Labels, split_at
from benchwright.agreement.measured import band
from tests.benchwright.agreement.test_bootstrap import noisy

SCALE = (0, 1, 2, 3)
LABELS = noisy(12, 8)


def test_a_query_has_the_agreement_of_its_own_labels():
    results = {row["query"]: row for row in report.by_query(LABELS, 2)}
    counts = LABELS.counts()

    assert len(results) > 5
    for query, row in results.items():
        own = counts[LABELS.clusters == LABELS.query_keys.index(query)]
        assert row["exact"] == pytest.approx(percent_agreement(own).value)
        assert row["relevant"] == pytest.approx(percent_agreement(split_at(own, 2)).value)
        assert row["n"] == (own.sum(axis=1) > 1).sum()
        alpha = krippendorff(own, SCALE, Level.ORDINAL).value
        assert row["alpha"] == (None if alpha is None else pytest.approx(alpha))
    exact = [row["exact"] for row in report.by_query(LABELS, 2)]
    assert exact == sorted(exact)


def test_alpha_without_somebody_is_that_of_the_others():
    for row in report.by_rater(LABELS):
        others = LABELS.where(LABELS.raters != LABELS.rater_keys.index(row["rater"]))
        expected = krippendorff(others.counts(), SCALE, Level.ORDINAL).value
        assert row["alpha_without"]["value"] == pytest.approx(expected)


def test_somebody_who_grades_one_too_high_leans_by_one():
    rows = []
    for item in range(40):
        grade = item % 3
        rows += [("q", item, "a", grade), ("q", item, "b", grade), ("q", item, "c", grade + 1)]

    results = {row["rater"]: row for row in report.by_rater(Labels.from_rows(rows, SCALE))}

    assert (results["c"]["lean"], results["c"]["exact"]) == (1.0, 0.0)
    # The lower median of an equal and a higher grade is the equal one.
    assert (results["a"]["lean"], results["a"]["exact"]) == (0.0, 1.0)
    assert results["a"]["alpha_without"]["value"] < results["c"]["alpha_without"]["value"] == 1


def test_lean_is_in_grades_where_the_scale_has_gaps():
    """0, 1, 4: from 1 to 4 is one step of the scale, and three grades."""
    scale, rows = (0, 1, 4), []
    for item, (first, second) in enumerate([(1, 4), (1, 4), (0, 1), (4, 4)]):
        rows += [("q", item, "a", first), ("q", item, "b", second)]

    row_of = {row["rater"]: row for row in report.by_rater(Labels.from_rows(rows, scale))}
    known = report.with_known(np.array([2, 2, 1, 2]), np.array([1, 1, 0, 0]), scale)

    assert (row_of["a"]["lean"], row_of["b"]["lean"]) == (-7 / 4, 7 / 4)
    assert (known["lean"], known["near"]) == (11 / 4, 3 / 4)


def test_groups_are_measured_apart():
    groups = np.where(np.arange(len(LABELS)) % 3 == 0, 0, 1)

    result = report.by_group(LABELS, groups, ("v1", "v2"))

    assert [row["name"] for row in result] == ["v1", "v2"]
    assert sum(row["n"] for row in result) == len(LABELS)
    expected = krippendorff(LABELS.where(groups == 1).counts(), SCALE, Level.ORDINAL)
    assert result[1]["alpha"]["value"] == expected.value


def test_a_boundary_is_the_agreement_of_two_grades():
    result = report.boundaries(LABELS)

    assert [row["grade"] for row in result] == [1, 2, 3]
    halves = split_at(LABELS.counts(), 2)
    assert result[1]["alpha"]["value"] == krippendorff(halves, (0, 1), Level.NOMINAL).value


def test_pairs_are_of_the_people_with_most_labels(monkeypatch):
    monkeypatch.setattr(report, "N_RATERS_PAIRED", 3)

    result = report.pairs(LABELS)

    assert (len(result["raters"]), len(result["cells"]), result["n_left_out"]) == (3, 3, 1)


def test_cohens_kappa_is_of_two_people():
    rng = np.random.default_rng(1)
    two = Labels.from_rows(
        ((0, n, r, int(rng.integers(0, 4))) for n in range(30) for r in "ab"), SCALE
    )

    assert report.overall(two, 1, rng)["cohen_quadratic"]["value"] is not None
    cohen_quadratic = report.overall(LABELS, 1, rng)["cohen_quadratic"]
    assert cohen_quadratic["value"] is None
    assert cohen_quadratic["why"].startswith("it is of two annotators, and there are 4")


def test_sizes_by_hand():
    rows = [
        ("q", 1, "a", 0),
        ("q", 1, "b", 1),
        ("q", 2, "a", 3),
        ("r", 1, "c", 2),
        ("s", 1, "a", 9),
    ]

    assert report.sizes(Labels.from_rows(rows, SCALE)) == {
        "n_labels": 4,
        "n_documents": 3,
        "n_shared": 1,
        "n_queries_shared": 1,
        "n_raters": 3,
    }


def test_three_raters_agree_where_all_who_graded_gave_one_grade():
    grades = {
        "ann": {("q", "d1"): 1, ("q", "d2"): 0, ("q", "d3"): 2, ("q", "d4"): 1},
        "bo": {("q", "d1"): 1, ("q", "d2"): 1, ("q", "d3"): 2},
        "cy": {("q", "d1"): 1, ("q", "d2"): 0, ("q", "d9"): 1},
    }
    rows = [(*pair, rater, grade) for rater, of in grades.items() for pair, grade in of.items()]

    agreement = report.of_raters(grades, scale=None, relevant_from=1, rng=np.random.default_rng(1))

    overall = report.overall(Labels.from_rows(rows, [0, 1, 2]), 1, np.random.default_rng(1))
    assert (agreement["n_raters"], agreement["n_shared"]) == (3, 3)
    assert agreement["same_share"] == pytest.approx(2 / 3)
    assert agreement["overall"] == overall


def test_of_raters_takes_a_grade_that_is_not_on_the_scale_as_missing():
    first = {("q", "d1"): 1, ("q", "d2"): 9, ("q", "d3"): 0}
    second = {("q", "d1"): 1, ("q", "d2"): 9, ("q", "d3"): 1}

    def of(scale):
        rng = np.random.default_rng(1)
        return report.of_raters({"a": first, "b": second}, scale=scale, relevant_from=1, rng=rng)

    both = of([0, 1])
    assert (both["n_shared"], both["same_share"]) == (2, 0.5)
    assert both["overall"]["exact"]["n_items"] == 2
    assert of([2, 3]) == {"n_shared": 0}


@pytest.mark.parametrize(
    ("alpha", "word"), [(0.8, "firm"), (0.799, "tentative"), (0.67, "tentative"), (0.669, "low")]
)
def test_alpha_is_read_from_0_80_and_from_0_67(alpha, word):
    assert band(alpha).startswith(f"{word}:")


def test_known_grades_by_hand():
    beside_known = report.with_known(np.array([0, 1, 3, 2]), np.array([0, 2, 1, 2]), SCALE)

    assert (
        beside_known["n"],
        beside_known["exact"],
        beside_known["near"],
        beside_known["lean"],
    ) == (4, 0.5, 0.75, 0.25)
    assert report.with_known(np.array([], int), np.array([], int), SCALE)["n"] == 0


def test_all_of_it_is_json_and_of_no_labels_too():
    nothing = Labels.from_rows([], SCALE)
    for labels in (LABELS, nothing):
        fields = {
            **report.sizes(labels),
            "overall": report.overall(labels, 1, np.random.default_rng(1)),
            "boundaries": report.boundaries(labels),
            "queries": report.by_query(labels, 1),
            "raters": report.by_rater(labels),
            "pairs": report.pairs(labels),
            "confusion": report.against_consensus(labels),
            "groups": report.by_group(labels, np.zeros(len(labels), int), ("v1",)),
        }
        json.dumps(fields, allow_nan=False)
