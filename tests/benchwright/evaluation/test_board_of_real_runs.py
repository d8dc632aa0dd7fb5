"""Intervals and tie groups of 24 runs that were submitted to TREC-COVID."""

import numpy as np
import pytest
from scipy import stats

from benchwright import evaluate, read_qrels, read_run
from benchwright.evaluation.uncertainty import mean_intervals, ranked
from benchwright.statistics.confidence_sets import tie_groups
from tests.benchwright.realdata import data_folder

pytestmark = pytest.mark.data
MEASURE = "nDCG@10"


@pytest.fixture(scope="module")
def board():
    """Evaluations by run, best first."""
    folder = data_folder("trec_covid_round1")
    qrels = read_qrels(folder / "qrels.covid-round1.txt")
    results = {
        path.name: evaluate(qrels, read_run(path), [MEASURE], ties="trec9")
        for path in sorted((folder / "runs").iterdir())
    }
    return dict(sorted(results.items(), key=lambda item: -item[1].means[MEASURE]))


def values(board) -> np.ndarray:
    """Queries x runs."""
    return np.array(
        [[of[MEASURE] for of in value.per_query.values()] for value in board.values()]
    ).T


def test_intervals_of_all_runs_are_those_of_scipy(board):
    ours = [mean_intervals(value, {})[MEASURE] for value in board.values()]

    theirs = stats.ttest_1samp(values(board), 0).confidence_interval(0.95)
    assert [interval.low for interval in ours] == pytest.approx(theirs.low, rel=1e-12)
    assert [interval.high for interval in ours] == pytest.approx(theirs.high, rel=1e-12)


def test_ranks_and_groups_say_the_same(board):
    of = values(board)
    standings = ranked(of.T.tolist(), [f"q{number}" for number in range(len(of))], {}).standings

    assert [standing.tie_group for standing in standings] == tie_groups(
        of, n_flips=2_000
    ).of.tolist()
    assert [standing.best == 1 for standing in standings] == [
        standing.tie_group == 1 for standing in standings
    ]
    assert all(
        standing.best <= rank <= standing.worst for rank, standing in enumerate(standings, start=1)
    )
