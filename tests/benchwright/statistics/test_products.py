import numpy as np
import pytest

from benchwright.statistics.families import MULTIPLICATIONS, product


@pytest.mark.parametrize(
    ("n_rows", "n", "n_columns"),
    [(300, 1000, 40), (7, 3, 1), (5, MULTIPLICATIONS, 2), (0, 4, 3), (4, 0, 3), (4, 3, 0)],
)
def test_pieces_add_up_to_the_product(n_rows, n, n_columns):
    rng = np.random.default_rng(0)
    left, right = rng.random((n_rows, n)), rng.random((n, n_columns))

    result = product(left, right)

    assert result.shape == (n_rows, n_columns)
    np.testing.assert_allclose(result, left @ right, rtol=1e-10)
