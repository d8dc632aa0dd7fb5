"""Losses against mirrored wins: golden pairs, each counted a second way."""

from itertools import permutations, product
from math import fsum

import numpy as np
import pytest
from scipy import stats

from benchwright.statistics.losses import flipped_p, much_lost
from tests.benchwright.given_runs import given_runs

GOLDEN = [
    ("rrf_bm25_minilm", "bm25_stem", 3, 9, 1, 0.312500),
    ("minilm_l6_int8", "bm25_stem", 11, 19, 12, 0.661180),
    ("lsa200", "bm25_stem", 8, 11, 9, 0.685471),
    ("bm25_stem", "minilm_l6_int8", 19, 11, 11, 0.100244),
    ("tfidf_word", "rrf_bm25_minilm", 16, 3, 3, 0.002213),
]


def column(differences, **more):
    """Of one column: L, W, W', share and p."""
    losses = much_lost(np.asarray(differences, dtype=float)[:, np.newaxis], by=0.3, **more)
    return tuple(float(each[0]) for each in (losses.lost, losses.won, losses.mirrored, losses.p))


def by_hand(differences, by=0.3):
    """L, W, W' and p, one query after the other."""
    mean = max(0.0, fsum(differences) / len(differences))
    lost = sum(d < -by - 1e-12 for d in differences)
    mirrored = sum(d > by + 2 * mean + 1e-12 for d in differences)
    test = stats.binomtest(lost, lost + mirrored, 0.5, alternative="greater") if lost else None
    return lost, sum(d > by + 1e-12 for d in differences), mirrored, test.pvalue if test else 1.0


def enumerated(counts):
    """The same by every pattern of signs."""
    goal = sum(counts)
    patterns = list(product((1, -1), repeat=len(counts)))
    reached = sum(
        sum(s * c for s, c in zip(signs, counts, strict=True)) >= goal for signs in patterns
    )
    return reached / len(patterns)


@pytest.mark.data
@pytest.mark.parametrize(("candidate", "baseline", "lost", "won", "mirrored", "p"), GOLDEN)
def test_pairs_of_cranfield_have_the_known_losses(candidate, baseline, lost, won, mirrored, p):
    runs = given_runs("cranfield")
    differences = runs.of(candidate) - runs.of(baseline)

    assert column(differences) == (lost, won, mirrored, pytest.approx(p, abs=5e-7))
    assert by_hand(differences.tolist()) == (lost, won, mirrored, pytest.approx(p, abs=5e-7))


@pytest.mark.data
def test_shares_of_two_golden_pairs_are_above_five_percent():
    runs = given_runs("cranfield")
    pairs = [("bm25_stem", "minilm_l6_int8", 0.0844), ("tfidf_word", "rrf_bm25_minilm", 0.0711)]

    for candidate, baseline, share in pairs:
        losses = much_lost((runs.of(candidate) - runs.of(baseline))[:, np.newaxis], by=0.3)
        assert losses.share[0] == pytest.approx(share, abs=5e-5)


@pytest.mark.data
def test_of_272_better_pairs_the_share_blocks_89_and_the_test_none():
    runs = given_runs("trec_covid_round1")
    columns = [runs.of(one) - runs.of(other) for one, other in permutations(runs.names, 2)]
    better = np.stack([each for each in columns if each.mean() >= 0.01], axis=1)

    losses = much_lost(better, by=0.3)

    beyond = losses.share > 0.05
    assert (better.shape[1], beyond.sum(), (beyond & (losses.p < 0.05)).sum()) == (272, 89, 0)
    by_pair = [by_hand(column.tolist()) for column in better.T]
    assert sum(lost / 30 > 0.05 for lost, *_ in by_pair) == 89
    assert not sum(lost / 30 > 0.05 and p < 0.05 for lost, *_, p in by_pair)


@pytest.mark.data
def test_families_flipped_whole_keep_the_error_that_single_queries_do_not():
    """100 families of 1 to 4, seven of ten members copies, 300 samples of an unrelated pair."""
    runs = given_runs("cranfield")
    differences = runs.of("minilm_l6_int8") - runs.of("bm25_stem")
    rng = np.random.default_rng(3)
    p = []
    for _ in range(300):
        of = np.repeat(np.arange(100), rng.integers(1, 5, 100))
        shared = rng.choice(differences, 100)[of]
        is_copy = rng.random(len(of)) < 0.7
        drawn = np.where(is_copy, shared, rng.choice(differences, len(of)))
        drawn *= rng.choice([-1.0, 1.0], 100)[of]
        p.append((column(drawn, families=of)[3], column(drawn)[3]))

    whole, single = (np.array(p) < 0.05).mean(axis=0)
    assert whole <= 0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5
    assert 0.06 <= single <= 0.15 + 3 * (0.15 * 0.85 / 300) ** 0.5


@pytest.mark.parametrize("seed", range(12))
def test_families_are_flipped_whole_and_counted_exactly(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(-3, 4, size=(rng.integers(1, 12), 1)).astype(float)

    assert flipped_p(counts)[0] == pytest.approx(enumerated(counts[:, 0].tolist()), abs=1e-12)


def test_losses_of_one_family_count_once():
    """Six of one family: of its two signs one reaches them."""
    lost = [-0.4] * 6 + [0.1] * 6

    assert column(lost, families=np.array([0] * 6 + list(range(1, 7))))[3] == 0.5
    assert column(lost)[3] == pytest.approx(0.5**6)


def test_nothing_lost_is_p_1_and_exactly_the_limit_is_no_loss():
    assert column([0.5, 0.4, 0.2]) == (0, 2, 0, 1.0)
    assert column([-0.3, 0.1 - 0.4, 0.3]) == (0, 0, 0, 1.0)


def test_one_loss_counts_as_well():
    """Alone it is reached by one of two signs; against one mirrored win by three of four."""
    assert column([-0.5, 0.1, 0.1]) == (1, 0, 0, 0.5)
    assert column([-0.5, 0.4, 0.0]) == (1, 1, 1, 0.75)


@pytest.mark.parametrize(("beyond", "mirrored"), [(1e-9, 1), (0.0, 0), (-1e-9, 0)])
def test_the_limit_of_mirrored_wins_is_twice_the_mean_further_out(beyond, mirrored):
    """At a mean of .1 it is .5, and a win of exactly .5 is none."""
    won = 0.5 + beyond

    assert column([-0.35, won, 0.4 + 0.35 - won, 0.0])[2] == mirrored


def test_a_loss_over_all_moves_no_limit():
    assert column([-0.5, -0.5, 0.31])[:3] == (2, 1, 1)


def test_columns_are_counted_by_themselves_and_an_empty_one_has_nothing():
    nan = np.nan
    values = np.array([[-0.5, nan, 0.4], [-0.4, nan, nan], [0.4, nan, -0.4]])

    losses = much_lost(values, by=0.3)

    assert losses.n.tolist() == [3, 0, 2]
    assert losses.lost.tolist() == [2, 0, 1]
    assert losses.mirrored.tolist() == [1, 0, 1]
    assert losses.share.tolist() == pytest.approx([2 / 3, 0, 1 / 2])
    assert losses.p.tolist() == pytest.approx([0.5, 1, 0.75])


def test_weights_count_in_share_and_mean():
    """Weighted mean (-.5 + 3 * .5) / 4 = .25: wins count mirrored from .8."""
    values, weights = np.array([[-0.5], [0.5]]), np.array([1.0, 3.0])

    losses = much_lost(values, by=0.3, weights=weights)

    assert (losses.share[0], losses.won[0], losses.mirrored[0]) == (0.25, 1, 0)


def test_an_undefined_difference_is_left_out():
    losses = much_lost(np.array([[-0.5], [np.nan], [0.1], [0.1]]), by=0.3)

    assert (losses.n[0], losses.share[0]) == (3, pytest.approx(1 / 3))


def test_a_general_gain_does_not_hide_losses():
    """Moved by .2 the wins above .3 are many, those above .3 + 2 * .2 are not."""
    moved = np.concatenate([np.full(10, -0.4), np.full(90, 0.35)])

    lost, won, mirrored, p = column(moved)

    assert (lost, won, mirrored) == (10, 90, 0)
    assert p == pytest.approx(0.5**10)


def test_equal_weights_say_what_none_say_and_weights_are_those_of_the_patterns():
    rng = np.random.default_rng(3)
    few = np.where(np.arange(40) < 9, rng.choice([-0.5, 0.5], 40), 0.0)

    assert column(few, weights=np.full(40, 2.5)) == pytest.approx(column(few))
    # 2, 1 and 1 lost against 3 won: every pattern of the four is gone through.
    values, weights = [-0.5, -0.5, -0.5, 0.5, 0.0], np.array([2.0, 1.0, 1.0, 3.0, 1.0])
    losses = much_lost(np.array(values)[:, np.newaxis], by=0.3, weights=weights)
    assert losses.p[0] == enumerated([2.0, 1.0, 1.0, -3.0])
    assert losses.share[0] == pytest.approx(4 / 8)


def test_the_weighted_test_keeps_its_error_where_no_query_outweighs_the_others():
    """600 made pairs without a difference: p < .05 in .05, and three standard errors more."""
    rng = np.random.default_rng(11)
    weights = rng.uniform(0.5, 2.0, 300)

    losses = much_lost(rng.normal(0, 0.15, (300, 600)), by=0.3, weights=weights)

    assert (losses.p < 0.05).mean() <= 0.05 + 3 * (0.05 * 0.95 / 600) ** 0.5
