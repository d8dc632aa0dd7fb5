"""Intervals and tie groups of 24 runs that were submitted to TREC-COVID, computed a second time."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from scoring.core import evaluate, read_qrels, read_run
from scoring.core.uncertainty import mean_intervals, standings
from tests.scoring.core.realdata import data_folder

pytestmark = pytest.mark.data
MEASURE = "nDCG@10"


@pytest.fixture(scope="module")
def board():
    """Evaluations by run, best first."""
    folder = data_folder("trec_covid_round1")
    qrels = read_qrels(folder / "qrels.covid-round1.txt")
    found = {
        path.name: evaluate(qrels, read_run(path), [MEASURE], ties="trec9")
        for path in sorted((folder / "runs").iterdir())
    }
    return dict(sorted(found.items(), key=lambda item: -item[1].means[MEASURE]))


def values(board) -> np.ndarray:
    """Queries x runs."""
    return np.array([[of[MEASURE] for of in one.per_query.values()] for one in board.values()]).T


def test_intervals_of_all_runs_are_those_of_scipy(board):
    ours = [mean_intervals(one, {})[MEASURE] for one in board.values()]

    theirs = stats.ttest_1samp(values(board), 0).confidence_interval(0.95)
    assert [one.low for one in ours] == pytest.approx(theirs.low, rel=1e-12)
    assert [one.high for one in ours] == pytest.approx(theirs.high, rel=1e-12)


def span_of_means(*runs, axis=-1) -> np.ndarray:
    """The best mean less the worst."""
    return np.ptp(np.stack([run.mean(axis=axis) for run in runs]), axis=0)


def test_tie_groups_are_those_of_scipys_permutations(board):
    """A run opens a group where it differs from the head of the last one, by how far the best and
    the worst of all are apart when each query's values are shuffled among the runs. Only where p is
    near 5 % may other draws differ."""
    of = values(board)
    qids = [f"q{number}" for number in range(len(of))]
    groups = [one.tie_group for one in standings(of.T.tolist(), qids, {})]

    shuffled = stats.permutation_test(
        tuple(of.T), span_of_means, permutation_type="samples", n_resamples=2_000, batch=500, rng=3
    ).null_distribution
    means, head = of.mean(axis=0), 0
    for place, (before, now) in enumerate(pairwise(groups), start=1):
        p = (shuffled >= means[head] - means[place]).mean()
        if not 0.035 < p < 0.065:
            assert (now == before) == (p >= 0.05), (place, p)
        head = head if now == before else place
    assert groups == sorted(groups)
    assert 3 <= groups[-1] < len(board)
