"""Products of rounded rows: the same in any order, at any place, and right."""

from fractions import Fraction

import numpy as np
import pytest

from benchwright.matrices.products import (
    exact_dots,
    exact_pairs,
    exact_products,
    exponents_of,
    lengths_of,
    round_rows,
)


def rounded(seed: int, n: int, d: int, scale: float = 1.0):
    rows = (np.random.default_rng(seed).standard_normal((n, d)) * scale).astype(np.float32)
    round_rows(rows, exponents_of(lengths_of(rows.astype(np.float64))))
    return rows


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 7e12])
@pytest.mark.parametrize("d", [1, 5, 384, 1027])
def test_products_are_exact_whatever_the_scale(d, scale):
    left, right = rounded(1, 3, d, scale), rounded(2, 3, d)

    truth = [
        float(sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(*pair, strict=True)))
        for pair in zip(left, right, strict=True)
    ]

    assert exact_dots(left, right).tolist() == truth
    assert exact_products(left, right).diagonal().tolist() == truth


def test_no_order_of_columns_and_no_place_of_rows_changes_a_bit():
    left, right = rounded(3, 150, 700), rounded(4, 130, 700)
    rng = np.random.default_rng(5)
    columns, rows = rng.permutation(700), rng.permutation(150)

    moved = exact_products(left[rows][:, columns], right[:, columns])

    assert np.array_equal(moved, exact_products(left, right)[rows])
    a, b = rng.integers(0, 130, (2, 1000))
    assert np.array_equal(exact_pairs(left, right, a, b), exact_products(left, right)[a, b])


def test_rounding_moves_a_row_by_less_than_32_bits_do():
    rows = np.random.default_rng(6).standard_normal((50, 300)).astype(np.float32)
    lengths = lengths_of(rows.astype(np.float64))
    kept = rows.copy()

    round_rows(rows, exponents_of(lengths))

    assert np.abs(rows - kept).max() <= 2.0**-26 * lengths.max()
    assert lengths == pytest.approx(np.linalg.norm(kept.astype(np.float64), axis=1), rel=1e-14)


def test_rows_of_nothing_and_rows_without_columns_have_length_0():
    assert lengths_of(np.zeros((2, 3))).tolist() == [0, 0]
    assert lengths_of(np.zeros((2, 0))).tolist() == [0, 0]
    assert rounded(1, 2, 4, 0.0).tolist() == [[0] * 4] * 2
