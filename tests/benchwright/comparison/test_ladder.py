"""The Ladder, beside the paper's algorithm and our step written out in plain Python."""

from math import nan, sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from scipy import stats

from benchwright.comparison.ladder import steps_up
from tests.red_team.adaptive import is_better, one_error, significant


def ladder(columns, n_errors):
    """Algorithm 3 of Blum & Hardt: R_t = R_S(f_t) where it is below R_(t-1) - s/sqrt(n).

    With means instead of losses, so above and plus; `n_errors` of the submission's place is 1 in
    the paper. Values are told as whose they are.
    """
    best, means = None, []
    for place, values in enumerate(columns):
        if best is None:
            best = place
        else:
            differences = [a - b for a, b in zip(values, columns[best], strict=True)]
            step = stdev(differences) / sqrt(len(differences))
            if mean(values) > mean(columns[best]) + n_errors(place) * step:
                best = place
        means.append(best)
    return means


def told_of(columns, margin=significant):
    """The same by the code: whose value is told of each submission (queries x measures)."""
    results = [[0] * columns[0].shape[1]]
    for place, values in enumerate(columns[1:], start=1):
        standing = np.stack([columns[of][:, m] for m, of in enumerate(results[-1])], axis=1)
        better = is_better(values - standing, place, margin)
        results.append(
            [place if is_up else of for of, is_up in zip(results[-1], better, strict=True)]
        )
    return results


def drawn(seed, *, n=60, k=25, spread=0.1):
    """Submissions that adapt: each changes the best by chance, at times for the better."""
    rng = np.random.default_rng(seed)
    results = [rng.random(n)]
    for _ in range(k - 1):
        base = max(results, key=np.mean) if rng.random() < 0.7 else results[-1]
        moved = base + rng.normal(rng.choice([0, 0.3, 0.6]) * spread, spread, n)
        # Not of a single query: there both sides of the paper's condition are equal.
        results.append(np.where(rng.random(n) < rng.uniform(0.2, 1), moved, base).clip(0, 1))
    return results


@pytest.mark.parametrize("seed", range(30))
def test_step_of_one_error_is_that_of_the_paper(seed):
    columns = drawn(seed)

    result = told_of([column[:, np.newaxis] for column in columns], margin=one_error)

    assert [of for (of,) in result] == ladder(columns, lambda place: 1)


@pytest.mark.parametrize("seed", range(30))
def test_steps_are_those_of_a_t_test_at_five_percent_over_the_tries(seed):
    columns = drawn(seed, spread=0.3)

    results = [of for (of,) in told_of([column[:, np.newaxis] for column in columns])]

    assert results == ladder(columns, lambda place: stats.t.ppf(1 - 0.05 / place, 59))
    assert len(set(results)) > 1


def test_measures_go_up_apart():
    rng = np.random.default_rng(1)
    first = rng.random((40, 2)) / 2
    second = first + np.array([0.3, 0.0]) + rng.normal(0, 0.01, (40, 2))

    assert told_of([first, second]) == [[0, 0], [1, 0]]


def test_queries_of_a_family_count_once():
    differences = np.repeat([0.2, 0.3, -0.1, 0.2], 10)[:, np.newaxis]
    families = np.repeat(np.arange(4), 10)

    assert steps_up(differences, n_before=1).item()
    assert not steps_up(differences, n_before=1, families=families).item()


@pytest.mark.parametrize("n_better", [1, 2])
def test_few_queries_are_no_step_however_much_better(n_better):
    differences = np.zeros((200, 1))
    differences[:n_better] = 1

    assert not steps_up(differences, n_before=1).item()
    assert n_better == 1 or is_better(differences, 1, one_error).item()


def test_chance_gives_few_steps():
    rng = np.random.default_rng(5)
    first = rng.random((112, 1))
    n_steps = [
        len({of for (of,) in told_of([first, *(first + rng.normal(0, 0.2, (200, 112, 1)))])}) - 1
        for _ in range(40)
    ]

    # Expected are 0.05 x (1 + 1/2 + ... + 1/200) = 0.29, and fewer once there is one.
    assert np.mean(n_steps) < 0.6


def test_undefined_queries_are_left_out_and_nothing_is_no_step():
    differences = np.full((50, 2), nan)
    differences[:, 1] = [0.5, nan] * 25

    assert steps_up(differences, n_before=1).tolist() == [False, True]
    assert not steps_up(np.zeros((50, 1)), n_before=1).item()
    assert not steps_up(np.full((1, 1), 0.1), n_before=1).item()
