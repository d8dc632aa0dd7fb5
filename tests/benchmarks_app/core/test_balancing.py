"""The exchanges that even out splits, one at a time."""

import numpy as np
import pytest

from benchmarks_app.core.splitting import balancing
from benchmarks_app.core.splitting.balancing import Balance, _exchange_best, balanced


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


def searched(monkeypatch, most: int) -> list[bool]:
    """Of each draw whether it bettered anything, with at most so many improvements."""
    found = []
    monkeypatch.setattr(balancing, "MOST_IMPROVEMENTS", most)
    monkeypatch.setattr(
        balancing,
        "_exchange_best",
        lambda *asked: found.append(_exchange_best(*asked)) or found[-1],
    )
    rng = np.random.default_rng(4)
    contents = np.hstack([np.ones((300, 1)), rng.integers(0, 2, (300, 6))])
    balanced(contents, [0.7, 0.1, 0.2], range(300), seed=1)
    return found


def test_search_ends_after_so_many_improvements_or_draws_in_vain(monkeypatch):
    until_none_helps = searched(monkeypatch, 2000)

    n_better = sum(until_none_helps)
    assert until_none_helps[-40:] == [False] * 40
    assert until_none_helps[-41]
    runs_in_vain = "".join("+" if helps else "-" for helps in until_none_helps[:-40]).split("+")
    assert max(map(len, runs_in_vain)) < 40
    for most in (1, n_better - 1):
        monkeypatch.undo()
        cut_short = searched(monkeypatch, most)
        assert sum(cut_short) == most
        assert cut_short == until_none_helps[: len(cut_short)]
