"""Plain against weighted: where few queries outweigh the others, two means tell of these few."""

import pytest

from benchwright.slices import telling
from scoring.models import Score, ScoreSet
from scoring.scores.services import slice_scores
from scoring.scores.services.firewall import Sight, sight_of
from tests import factories
from tests.scoring.hiding import HIDDEN, PUBLIC, hiding_benchmark, hiding_release

pytestmark = pytest.mark.django_db
N, GOOD, PLAIN = len(HIDDEN), 1.0, 0.631
EVEN = dict.fromkeys(PUBLIC + HIDDEN, 0.01)
ONE_HEAVY = EVEN | {HIDDEN[0]: 9.0}
ONE_LIGHT = EVEN | {HIDDEN[0]: 0.0}


@pytest.fixture
def sight(monkeypatch):
    """A function that gives Sam's sight of a release whose queries have these weights."""
    benchmark = hiding_benchmark()
    release = hiding_release(benchmark)
    sam = factories.member(benchmark, "sam", "submitter")

    def sight(weights) -> Sight:
        monkeypatch.setattr(slice_scores, "weights_of", lambda _: weights)
        return sight_of(sam, release)

    return sight


def learnt(sight: Sight, weights, first: float):
    """What the first hidden query is worth, as the plain and the weighted mean together tell it.

    All others are worth the same, which the attacker need not know: two equations, two unknowns.
    """
    of = [weights[qid] for qid in HIDDEN]
    plain = (first + (N - 1) * PLAIN) / N
    weighted = (of[0] * first + sum(of[1:]) * PLAIN) / sum(of)
    means = sight.means(
        Score(score_set=ScoreSet(pk=1), measure="nDCG@10", slice_name=name, mean=mean, n=N)
        for name, mean in (("", plain), (Score.WEIGHTED, weighted))
    )
    if len(means) < 2:
        return None
    plain, weighted = (value.mean for value in means)
    share, even = of[0] / sum(of), 1 / N
    if abs(share - even) < 1e-9:
        return None
    rest = (weighted * even - plain * share) / (even - share)
    return (plain - (1 - even) * rest) / even


@pytest.mark.parametrize("weights", [ONE_HEAVY, ONE_LIGHT])
def test_weighted_means_that_single_a_query_out_are_not_told(sight, weights):
    assert learnt(sight(weights), weights, GOOD) is None


@pytest.mark.parametrize("weights", [ONE_HEAVY, ONE_LIGHT])
def test_attack_reads_a_query_where_weighted_means_are_told(sight, weights, monkeypatch):
    monkeypatch.setattr(telling, "is_safe", lambda *_, **__: True)

    assert learnt(sight(weights), weights, GOOD) == pytest.approx(GOOD, abs=0.05)


def test_even_weights_are_told(sight):
    means = sight(EVEN).means(
        [Score(score_set_id=1, measure="nDCG@10", slice_name=Score.WEIGHTED, mean=0.5, n=N)]
    )

    assert [value.mean for value in means] == [0.5]
