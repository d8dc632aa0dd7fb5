"""Every coefficient against two others' code, a naive one of our own, and published numbers."""

import warnings

import krippendorff as krippendorff_package
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from benchwright.agreement.coefficients import (
    Level,
    Weights,
    agreement_weights,
    fleiss,
    gwet,
    krippendorff,
    percent_agreement,
)
from benchwright.agreement.labels import Labels, split_at
from benchwright.agreement.two_raters import cohen, pair_tables
from tests.benchwright.agreement import naive

NAN = float("nan")
# Four raters, twelve units, labels missing: the example of Krippendorff (Computing Krippendorff's
# alpha-reliability, 2011) and, to the last label, the one of Gwet's handbook and package.
FOUR_RATERS = [
    [1, 1, NAN, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [NAN, 5, 5, 5],
    [NAN, NAN, 1, 1],
    [NAN, NAN, 3, NAN],
]
# Six psychiatrists and five diagnoses: from Fleiss' data, in Gwet's handbook.
SIX_RATERS = [
    [0, 0, 0, 6, 0],
    [0, 3, 0, 0, 3],
    [0, 1, 4, 0, 1],
    [0, 0, 0, 0, 6],
    [0, 3, 0, 3, 0],
    [2, 0, 4, 0, 0],
    [0, 0, 4, 0, 2],
    [2, 0, 3, 1, 0],
    [2, 0, 0, 4, 0],
    [0, 0, 0, 0, 6],
    [1, 0, 0, 5, 0],
    [1, 1, 0, 4, 0],
    [0, 3, 3, 0, 0],
    [1, 0, 0, 5, 0],
    [0, 2, 0, 3, 1],
]
# Two abstractors: Gwet's 3 x 3 example.
ABSTRACTORS = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])


def labels_of(matrix, scale=None) -> Labels:
    """From items x raters with NaN where a label is missing."""
    rows = [
        (item // 3, item, rater, int(grade))
        for item, given_ in enumerate(matrix)
        for rater, grade in enumerate(given_)
        if grade == grade
    ]
    return Labels.from_rows(rows, scale)


def test_gwets_worked_examples():
    counts = labels_of(FOUR_RATERS).counts()

    assert percent_agreement(counts).value == pytest.approx(0.8181818, abs=5e-8)
    assert gwet(counts).value == pytest.approx(0.77544, abs=5e-6)
    assert gwet(counts, Weights.QUADRATIC).value == pytest.approx(0.9140007, abs=5e-8)
    assert gwet(np.array(SIX_RATERS)).value == pytest.approx(0.4448007, abs=5e-8)
    assert fleiss(np.array(SIX_RATERS)).value == pytest.approx(0.4139265, abs=5e-8)
    assert cohen(ABSTRACTORS).value == pytest.approx(0.7964094, abs=5e-8)


def test_krippendorffs_worked_example():
    values = [
        krippendorff(labels_of(FOUR_RATERS).counts(), (1, 2, 3, 4, 5), level).value
        for level in Level
    ]

    assert [round(value, 3) for value in values] == [0.743, 0.815, 0.849]


def test_a_table_of_two_raters_is_gwets_example_too():
    rows = [
        (0, f"{a}{b}{n}", rater, grade)
        for a in range(3)
        for b in range(3)
        for n in range(ABSTRACTORS[a, b])
        for rater, grade in ((0, a), (1, b))
    ]

    assert gwet(Labels.from_rows(rows).counts()).value == pytest.approx(0.8493305, abs=5e-8)
    assert (pair_tables(Labels.from_rows(rows))[0, 1] == ABSTRACTORS).all()


# --- random labels, some missing ------------------------------------------------------------------

grades = st.one_of(st.integers(0, 3), st.just(NAN))
matrices = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.lists(grades, min_size=n, max_size=n), min_size=2, max_size=12)
)
SCALE = (0, 1, 2, 3)


def items_of(matrix):
    return [[int(grade) for grade in row if grade == grade] for row in matrix]


def same(measured, expected):
    if expected is None:
        assert measured.value is None
        assert str(measured).startswith("undefined, because ")
    else:
        assert measured.value == pytest.approx(expected, abs=1e-9)


@given(matrices)
def test_percent_agreement_is_the_share_of_equal_pairs(matrix):
    counts = labels_of(matrix, SCALE).counts()

    same(percent_agreement(counts), naive.percent(items_of(matrix)))
    binary = [[grade >= 2 for grade in labels] for labels in items_of(matrix)]
    same(percent_agreement(split_at(counts, 2)), naive.percent(binary))


@given(matrices)
def test_krippendorffs_alpha_is_that_of_its_definition_and_of_the_package(matrix):
    counts = labels_of(matrix, SCALE).counts()
    ours = {level: krippendorff(counts, SCALE, level) for level in Level}

    for level, distance in zip(Level, (naive.nominal, naive.ordinal, naive.interval), strict=True):
        same(ours[level], naive.alpha(items_of(matrix), distance))
    assume(ours[Level.NOMINAL].is_defined)
    for level in Level:
        theirs = krippendorff_package.alpha(
            np.array(matrix, dtype=float).T, level_of_measurement=level, value_domain=list(SCALE)
        )
        assert ours[level].value == pytest.approx(theirs, abs=1e-9)


@given(matrices, st.sampled_from(list(Weights)))
def test_gwets_coefficient_is_that_of_its_definition(matrix, weights):
    def weight(a, b):
        if weights is Weights.NONE:
            return float(a == b)
        apart = abs(a - b) / 3
        return 1 - (apart if weights is Weights.LINEAR else apart**2)

    expected = naive.gwet(items_of(matrix), SCALE, weight)

    same(gwet(labels_of(matrix, SCALE).counts(), weights), expected)


@given(st.integers(2, 6), st.data())
def test_fleiss_kappa_is_that_of_statsmodels(n_raters, data):
    row = st.lists(st.integers(0, 3), min_size=n_raters, max_size=n_raters)
    matrix = data.draw(st.lists(row, min_size=2, max_size=12))
    counts = labels_of(matrix, SCALE).counts()
    assume(len({grade for given_ in matrix for grade in given_}) > 1)

    assert fleiss(counts).value == pytest.approx(fleiss_kappa(counts), abs=1e-9)


@given(matrices, st.sampled_from(list(Weights)))
def test_cohens_kappa_is_that_of_statsmodels(matrix, weights):
    labels = labels_of(matrix, SCALE)
    tables = pair_tables(labels)
    theirs = {Weights.NONE: None, Weights.LINEAR: "linear", Weights.QUADRATIC: "quadratic"}
    ratings = {
        item: {rater: int(grade) for rater, grade in enumerate(row) if grade == grade}
        for item, row in enumerate(matrix)
    }

    for a, b in naive.rater_pairs(ratings):
        seats = [labels.rater_keys.index(rater) for rater in (a, b)]
        # The first of two is the one that comes first in the columns.
        first, second = (a, b) if seats[0] < seats[1] else (b, a)
        table = tables[min(seats), max(seats)]
        assert table.tolist() == naive.pair_table(ratings, first, second, SCALE)
        result = cohen(table, weights)
        if result.is_defined:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kappa = cohens_kappa(table, wt=theirs[weights], return_results=False)
            assert result.value == pytest.approx(kappa, abs=1e-9)
        else:
            assert table.sum() == 0 or len(np.unique(np.nonzero(table))) == 1


@given(matrices, st.randoms(use_true_random=False))
def test_the_order_of_items_and_raters_changes_nothing(matrix, random):
    turned = [random.sample(row, len(row)) for row in random.sample(matrix, len(matrix))]
    one, other = labels_of(matrix, SCALE).counts(), labels_of(turned, SCALE).counts()

    for coefficient in (percent_agreement, fleiss, gwet):
        same(coefficient(one), coefficient(other).value)
    for level in Level:
        same(krippendorff(one, SCALE, level), krippendorff(other, SCALE, level).value)


@given(matrices)
def test_nothing_is_above_one_and_equal_labels_are_one(matrix):
    counts = labels_of(matrix, SCALE).counts()
    equal = np.diag([3, 3, 3, 3])

    for coefficient in (
        percent_agreement(counts),
        fleiss(counts),
        gwet(counts, Weights.QUADRATIC),
        *(krippendorff(counts, SCALE, level) for level in Level),
    ):
        assert coefficient.value is None or coefficient.value <= 1 + 1e-12
    assert percent_agreement(equal).value == fleiss(equal).value == gwet(equal).value == 1
    assert {krippendorff(equal, SCALE, level).value for level in Level} == {1}


# --- where there is no number ---------------------------------------------------------------------


@pytest.mark.parametrize("counts", [np.zeros((0, 4), int), np.array([[1, 0, 0, 0], [0, 0, 1, 0]])])
def test_without_double_labels_everything_is_undefined_and_says_why(counts):
    results = [
        percent_agreement(counts),
        fleiss(counts),
        gwet(counts),
        krippendorff(counts, SCALE, Level.ORDINAL),
    ]

    assert {str(result) for result in results} == {"undefined, because no document has two labels"}


def test_one_grade_throughout_is_undefined_where_chance_would_explain_it():
    counts = np.array([[2, 0, 0, 0], [2, 0, 0, 0], [0, 1, 0, 0]])

    assert "one and the same grade" in str(fleiss(counts))
    assert "one and the same grade" in str(krippendorff(counts, SCALE, Level.ORDINAL))
    assert percent_agreement(counts).value == 1
    assert gwet(counts, Weights.QUADRATIC).value == 1


def test_cohen_says_why_it_is_undefined():
    same_grade = np.array([[7, 0], [0, 0]])

    assert str(cohen(np.zeros((2, 2), int))) == (
        "undefined, because the two have no document in common"
    )
    assert "one and the same grade throughout" in str(cohen(same_grade, Weights.QUADRATIC))


def test_gwet_needs_two_grades_on_the_scale():
    assert str(gwet(np.array([[2]]))) == "undefined, because the scale has one grade"


def test_fleiss_takes_the_items_with_the_usual_number_of_labels():
    counts = np.array([[2, 0], [1, 1], [0, 2], [3, 0], [1, 0]])

    assert fleiss(counts).n_items == 3
    assert fleiss(counts).value == fleiss(counts[:3]).value


def test_a_grade_that_is_not_on_the_scale_is_missing():
    rows = [("q", "d", "a", 10), ("q", "d", "b", 1), ("q", "e", "a", 1), ("q", "e", "b", 1)]

    labels = Labels.from_rows(rows, SCALE)

    assert (len(labels), labels.n_items) == (3, 2)
    assert labels.counts().tolist() == [[0, 1, 0, 0], [0, 2, 0, 0]]


def test_weights_of_agreement():
    assert agreement_weights(3, Weights.LINEAR).tolist() == [
        [1, 0.5, 0],
        [0.5, 1, 0.5],
        [0, 0.5, 1],
    ]
    assert agreement_weights(3, Weights.QUADRATIC)[0].tolist() == [1, 0.75, 0]
