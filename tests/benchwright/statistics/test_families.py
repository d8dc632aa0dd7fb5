import numpy as np

from benchwright.statistics.families import family_means, family_totals, ratio_means

NAN = np.nan
VALUES = np.array([[1.0, NAN], [2.0, 5.0], [4.0, NAN], [8.0, 7.0]])
FAMILIES = np.array([7, 3, 7, 3])


def test_totals_are_of_defined_values_and_ordered_by_family():
    sums, sizes = family_totals(VALUES, FAMILIES)

    assert sums.tolist() == [[10.0, 12.0], [5.0, 0.0]]
    assert sizes.tolist() == [[2.0, 2.0], [2.0, 0.0]]


def test_every_row_is_a_family_without_families():
    sums, sizes = family_totals(VALUES, None)

    assert sums.tolist() == [[1.0, 0.0], [2.0, 5.0], [4.0, 0.0], [8.0, 7.0]]
    assert sizes.tolist() == [[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 1.0]]


def test_totals_of_no_rows_are_empty():
    sums, sizes = family_totals(np.empty((0, 2)), np.empty(0, dtype=np.intp))

    assert sums.shape == sizes.shape == (0, 2)


def test_mean_of_a_family_without_values_is_undefined():
    np.testing.assert_array_equal(family_means(VALUES, FAMILIES), [[5.0, 6.0], [2.5, NAN]])


def test_mean_leaves_undefined_values_out():
    np.testing.assert_array_equal(ratio_means(VALUES), [3.75, 6.0])
    np.testing.assert_array_equal(ratio_means(np.array([[NAN]])), [NAN])
