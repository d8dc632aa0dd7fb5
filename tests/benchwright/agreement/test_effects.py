from itertools import combinations
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright import evaluate
from benchwright.agreement.effects import CUTOFF, discount, effect, ideal_gain, mean_difference


def test_the_effect_is_how_far_two_runs_move_apart():
    """Against nDCG@10 itself, with as many documents as keep the ideal where it is."""
    best = {f"x{n}": 3 for n in range(10)}
    runs = {
        "a": ["d", "x1", "x2"],
        "b": ["x1", "x2", "d"],
        "c": ["x1", "x2", "x3"],
    }

    def scores(grade):
        return {
            name: evaluate(
                {"q": {**best, "d": grade}},
                {"q": {docid: -rank for rank, docid in enumerate(ranked)}},
                ["nDCG@10"],
            ).means["nDCG@10"]
            for name, ranked in runs.items()
        }

    low, high = scores(0), scores(2)
    moved = {name: high[name] - low[name] for name in runs}
    expected = sum(abs(moved[a] - moved[b]) for a, b in combinations(runs, 2)) / 3

    assert effect([2, 0], [1, 3, None], ideal_gain(list(best.values()))) == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_the_mean_difference_is_over_all_pairs(values):
    pairs = [abs(a - b) for a, b in combinations(values, 2)]

    assert mean_difference(values) == pytest.approx(sum(pairs) / len(pairs) if pairs else 0)


@pytest.mark.parametrize(
    ("grades", "ranks", "ideal", "expected"),
    [
        ([3, 0], [1, 1, 1], 5.0, 0.0),
        ([2, 2], [1, None], 5.0, 0.0),
        ([3, 0], [1, None], 0.0, 1.0),
        ([3, 1], [1], 5.0, 0.0),
        ([3, 1], [11, None], 5.0, 0.0),
        ([3, 1], [1, 2], 4.0, 2 * (1 - 1 / log2(3)) / 4),
    ],
)
def test_effects_by_hand(grades, ranks, ideal, expected):
    assert effect(grades, ranks, ideal) == pytest.approx(expected)


def test_the_first_ten_count():
    assert discount(CUTOFF) > 0
    assert discount(CUTOFF + 1) == discount(None) == 0
    assert ideal_gain([0, -1]) == 0
    assert ideal_gain([1] * 11) == ideal_gain([1] * 10)
