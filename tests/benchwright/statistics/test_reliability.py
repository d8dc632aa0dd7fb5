"""How differences of runs scatter, and what families take from it."""

import numpy as np
import pytest

from benchwright.statistics.reliability import (
    ASSUMED,
    ASSUMED_SIGMA,
    Spread,
    design_effect,
    mean_family,
    own_spread,
    spread_of,
)


def test_the_spread_is_the_median_over_pairs_of_runs():
    """Pairs differ by 1 and -1, 2 and -2, 1 and -1: the first and last by root 2."""
    values = np.array([[0.0, 1.0, 2.0], [0.0, -1.0, -2.0]])

    spread = spread_of(values)

    assert spread.sigma == pytest.approx(np.sqrt(2))
    assert spread.smallest == pytest.approx(np.sqrt(2))
    assert (spread.n_pairs, spread.n_queries, spread.is_assumed) == (3, 2, False)


def test_equal_runs_and_undefined_queries_do_not_count():
    values = np.array([[0.1, 0.1, 0.3], [0.5, 0.5, 0.2], [np.nan, 0.2, 0.1]])

    assert (spread_of(values).n_pairs, spread_of(values).n_queries) == (2, 2)
    assert spread_of(values[:, :2]) is None
    assert spread_of(values[:, :1]) is None
    # What is off by one and the same number scatters by rounding alone.
    assert spread_of(values[:2, :1] + [0.0, 0.1]) is None
    assert ASSUMED.is_assumed


def test_families_that_go_together_count_as_one_query():
    """Twenty families of two with equal differences: worth twenty queries, rho 1."""
    rng = np.random.default_rng(1)
    differences = np.repeat(rng.normal(size=200), 2)
    values = np.stack([differences, np.zeros(400)], axis=1)
    families = np.repeat(np.arange(200), 2)

    assert spread_of(values, families).rho == pytest.approx(1.0, abs=0.02)
    assert design_effect(families.tolist(), 1.0) == 2.0


def test_families_that_have_nothing_in_common_cost_nothing():
    values = np.random.default_rng(2).normal(size=(2000, 2))
    families = np.repeat(np.arange(1000), 2)

    assert spread_of(values, families).rho == pytest.approx(0.0, abs=0.1)


def test_few_families_are_taken_to_be_one_query_each():
    values = np.random.default_rng(3).normal(size=(40, 2))
    families = np.array([0, 0, *range(1, 39)])

    assert spread_of(values, families).rho == 1.0


def test_mean_family_counts_queries_and_not_families():
    assert mean_family([1, 3]) == 2.5
    assert mean_family([]) == 1.0


def test_a_part_has_a_spread_of_its_own_from_thirty_queries():
    values = np.zeros((100, 2))
    values[:40, 0] = np.tile([1.0, -1.0], 20)
    values[40:, 0] = np.tile([0.1, -0.1], 30)
    whole = Spread(sigma=0.5, rho=0.7)

    own = own_spread(values, np.arange(100) < 30, whole)

    assert own.sigma == own.smallest == pytest.approx(np.sqrt(30 / 29))
    assert (own.rho, own.n_pairs, own.n_queries) == (0.7, 1, 30)
    assert own_spread(values, np.arange(100) < 29, whole) == whole
    assert own_spread(np.zeros((100, 2)), np.arange(100) < 40, whole) == whole


@pytest.mark.data
def test_what_is_assumed_lies_between_what_was_measured(data):
    """The medians that the panel quotes for the number it assumes."""
    from benchwright import evaluate

    results = []
    for folder, qrels in (
        ("cranfield", "qrels_derived.txt"),
        ("trec_covid_round1", "qrels.covid-round1.txt"),
    ):
        runs = sorted((data / folder / "runs").iterdir())
        values = [
            [
                one["nDCG@10"]
                for _, one in sorted(
                    evaluate(data / folder / qrels, run, ["nDCG@10"]).per_query.items()
                )
            ]
            for run in runs
        ]
        results.append(round(spread_of(np.array(values).T).sigma, 2))

    assert results == [0.17, 0.26]
    assert results[0] < ASSUMED_SIGMA < results[1]
