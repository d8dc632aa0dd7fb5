"""The exchanges that even out splits, one at a time."""

import numpy as np
import pytest

from benchmarks_app.core.splitting.balancing import Balance, _exchange_best


@pytest.mark.parametrize(
    ("sizes", "assigned", "is_done"),
    [
        # Alone in its split, a family stays, though both splits would come nearer to their sizes.
        ([5, 10, 5], [0, 1, 1], False),
        ([5, 10, 4, 1], [0, 1, 1, 0], True),
    ],
)
def test_no_move_empties_a_split(sizes, assigned, is_done):
    balance = Balance(np.array(sizes, dtype=float)[:, None], np.array([0.1, 0.9]))
    for family, split in enumerate(assigned):
        balance.add(family, split)
    splits, first = np.array(assigned), np.array([0])

    done = _exchange_best(balance, splits, first, first, np.array([1]), np.array([True]))

    assert done is is_done
    assert splits[0] == is_done
