"""Made comparisons: what is made true holds, and thousands at once are tested as each by itself."""

from statistics import stdev

import numpy as np
import pytest

from benchwright.gates.checks import ROWS, weighed
from benchwright.gates.deciding import Kind
from benchwright.gates.evidence import Evidence
from benchwright.gates.policy import GuardRails
from benchwright.gates.rehearsal import making
from benchwright.gates.rehearsal.making import Drawn, Pair, Truth, draw, made
from benchwright.statistics.losses import much_lost
from tests.benchwright.gates.making import T, arm, policy

N = 60
FAMILIES = np.array([*np.repeat(np.arange(12), 3), *range(12, 36)])[::-1].copy()
SLICES = np.stack([np.arange(N) < 35, np.arange(N) % 2 == 0], axis=1)
EXACT = np.arange(N) % 3 > 0
RAILS = ("R@100", "RR@10")


def pair_of(seed=0, families=FAMILIES):
    rng = np.random.default_rng(seed)
    columns = rng.normal(0.01, 0.3, (N, 5))
    return Pair(
        gain=columns[:, 0],
        guards=columns[:, 1:3],
        standing=rng.random(N),
        slices=SLICES,
        families=families,
        exact=EXACT,
        against=columns[:, 3],
        baseline_against=columns[:, 4],
    )


def as_drawn(n, k=1):
    """Every query once, in its order, k times."""
    return Drawn(np.tile(np.arange(n), k), None, n, k)


# --- drawing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("families", [None, FAMILIES], ids=("alone", "families"))
@pytest.mark.parametrize("n_families", [None, 5])
def test_families_are_drawn_whole_and_as_many_as_were_asked_for(families, n_families):
    drawn = draw(N, families, n_families=n_families, k=7, rng=np.random.default_rng(2))
    of = np.arange(N) if families is None else families

    ends = [*drawn.firsts[1:], len(drawn.rows)]
    for number, (first, end) in enumerate(zip(drawn.firsts, ends, strict=True)):
        assert (drawn.comparison[first:end] == number).all()
        rows, seen = list(drawn.rows[first:end]), 0
        while rows:
            members = np.flatnonzero(of == of[rows[0]]).tolist()
            assert rows[: len(members)] == members
            rows, seen = rows[len(members) :], seen + 1
        assert seen == (n_families or len(np.unique(of)))
    assert drawn.k == len(drawn.firsts) == 7


def test_every_family_is_drawn_as_often_as_the_others():
    drawn = draw(N, FAMILIES, n_families=None, k=2_000, rng=np.random.default_rng(1))

    shares = np.bincount(drawn.rows, minlength=N) / drawn.n_families / drawn.k
    assert shares == pytest.approx(1 / 36, rel=0.1)


def test_totals_are_of_each_family_and_each_comparison():
    drawn = draw(N, FAMILIES, n_families=6, k=3, rng=np.random.default_rng(5))
    values = np.random.default_rng(6).random(len(drawn.rows))
    families = [FAMILIES[row] for row in drawn.rows]
    starts = [0]
    for place in range(1, len(families)):
        size = (families[starts[-1]] == FAMILIES).sum()
        if place == starts[-1] + size:
            starts.append(place)
    sums = [part.sum() for part in np.split(values, starts[1:])]

    assert drawn.totals(values) == pytest.approx(np.reshape(sums, (3, 6)).T)
    assert drawn.of_comparisons(values) == pytest.approx(np.reshape(sums, (3, 6)).sum(axis=1))
    coins = np.arange(18.0)
    sizes = [len(part) for part in np.split(values, starts[1:])]
    assert drawn.by_family(coins).tolist() == np.repeat(coins, sizes).tolist()


def test_scatter_is_the_standard_deviation_of_a_sample():
    assert pair_of().sigma == pytest.approx(stdev(pair_of().gain))


# --- testing -------------------------------------------------------------------------------------


def alone(pair, rows, families):
    """The same comparison through the gate's own tests, by t."""
    gain, names = pair.gain[rows], RAILS
    zero = np.zeros(len(rows))
    rails = {name: pair.guards[rows, place] for place, name in enumerate(names)}
    evidence = Evidence(
        queries=[f"q{place}" for place in range(len(rows))],
        baseline=arm("old", zero, rails=dict.fromkeys(names, zero)),
        candidate=arm("new", gain, rails=rails),
        slices={"a": pair.slices[rows, 0], "b": pair.slices[rows, 1], "exact": pair.exact[rows]},
        families=families,
        lexical=arm("bm25", gain - pair.against[rows], rails=dict.fromkeys(names, zero)),
    )
    rules = GuardRails(measures=names, exact_slice="exact")
    policy_asked = policy(slices=("a", "b"), guard_rails=rules, smallest_slice=2)
    return policy_asked, weighed(policy_asked, evidence, T)


@pytest.mark.parametrize("has_families", [False, True], ids=("alone", "families"))
def test_many_at_once_have_the_numbers_of_each_by_itself(has_families):
    pair = pair_of(families=FAMILIES if has_families else None)
    drawn = draw(N, pair.families, n_families=None, k=4, rng=np.random.default_rng(3))
    rows = drawn.rows
    against = (pair.exact[rows], pair.against[rows])
    ends = [*drawn.firsts, len(rows)]
    number_of = np.cumsum(np.isin(np.arange(len(rows)), starts_of(drawn)))

    for number in range(4):
        part = slice(ends[number], ends[number + 1])
        policy_asked, expected = alone(pair, rows[part], number_of[part] if has_families else None)
        tests = making.tests_of(
            policy_asked, drawn, pair.gain[rows], pair.guards[rows].T, pair.slices[rows].T, against
        )
        kept = [test for key, test in expected.tests.items() if key[0] != Kind.EXPLORATORY]
        assert [key[0] for key in expected.tests if key[0] != Kind.EXPLORATORY] == tests.kinds
        for name in ROWS:
            seen = getattr(tests, "p" if name == "p_less" else name)[:, number]
            assert seen == pytest.approx([getattr(test.difference, name) for test in kept]), name
        for name in ("n", "lost", "won", "mirrored", "share", "p"):
            assert getattr(tests.losses, name)[number] == pytest.approx(
                getattr(expected.losses, name)[0]
            )


def starts_of(drawn):
    return np.arange(len(drawn.rows)) if drawn.starts is None else drawn.starts


def test_a_column_without_a_query_is_undefined_and_one_without_a_difference_has_p_1():
    gain = np.where(np.arange(N) < 30, 0.1, 0.0) + np.zeros(N)
    masks = np.stack([np.zeros(N, dtype=bool), np.arange(N) >= 30])

    tests = making.tests_of(policy(), as_drawn(N), gain, gain[np.newaxis][:0], masks)

    assert np.isnan(tests.mean[1, 0])
    assert tests.n[:, 0].tolist() == [60, 0, 30]
    assert (tests.mean[2, 0], tests.p[2, 0]) == (0, 1)


@pytest.mark.parametrize("n_lost", [0, 1, 2])
@pytest.mark.parametrize("n_won", [0, 3])
def test_losses_of_few_queries_are_those_of_the_gate(n_lost, n_won):
    gain = np.zeros(N)
    gain[:n_lost], gain[N - n_won :] = -0.5, 0.9

    tests = making.tests_of(policy(), as_drawn(N), gain, gain[np.newaxis][:0], np.zeros((0, N)))

    expected = much_lost(gain[:, np.newaxis], by=0.3)
    for name in ("n", "lost", "won", "mirrored", "share", "p"):
        assert getattr(tests.losses, name) == pytest.approx(getattr(expected, name)), name
    assert (tests.losses.p[0] == 1) == (n_lost == 0)


@pytest.mark.parametrize("n", [1, 2])
def test_a_mean_is_of_the_queries_there_are(n):
    mask = (np.arange(N) < n)[np.newaxis]

    tests = making.tests_of(policy(), as_drawn(N), np.full(N, 0.25), np.zeros((0, N)), mask)

    assert (tests.n[1, 0], tests.n_families[1, 0], tests.mean[1, 0]) == (n, n, 0.25)


# --- truths --------------------------------------------------------------------------------------


def differences(truth, *, said=None, seed=0, k=1, pair=None):
    """Of every query once: gain, guards (queries x measures), differences on exact matches."""
    pair = pair or pair_of()
    drawn = as_drawn(N, k)
    masks = pair.slices[drawn.rows].T
    rng = np.random.default_rng(seed)
    gain, guards, against = making._differences(said or policy(), pair, truth, drawn, masks, rng)
    return gain, guards.T, against


def test_as_is_leaves_everything_as_it_is():
    pair = pair_of()

    gain, guards, (mask, against) = differences(Truth("as is"))

    assert gain.tolist() == pair.gain.tolist()
    assert guards.tolist() == pair.guards.tolist()
    assert (mask.tolist(), against.tolist()) == (EXACT.tolist(), pair.against.tolist())


def test_arms_are_swapped_by_a_fair_coin_for_everything_of_a_family_at_once():
    pair, k = pair_of(), 200
    gain, guards, (_, against) = differences(Truth("swapped"), k=k)

    sign = gain / np.tile(pair.gain, k)
    assert set(np.round(sign, 9)) == {-1.0, 1.0}
    assert sign.mean() == pytest.approx(0, abs=4 / (k * N) ** 0.5)
    assert guards == pytest.approx(np.tile(pair.guards, (k, 1)) * sign[:, np.newaxis])
    kept = np.where(sign > 0, np.tile(pair.against, k), np.tile(pair.baseline_against, k))
    assert against.tolist() == kept.tolist()


def test_members_of_a_family_are_swapped_together():
    pair = pair_of()
    drawn = draw(N, FAMILIES, n_families=None, k=50, rng=np.random.default_rng(0))
    masks = pair.slices[drawn.rows].T
    rng = np.random.default_rng(1)
    gain, _, _ = making._differences(policy(), pair, Truth("swapped"), drawn, masks, rng)

    sign = np.split(gain / pair.gain[drawn.rows], drawn.starts[1:])
    assert all(np.ptp(part) < 1e-9 for part in sign)
    assert len({round(float(part[0])) for part in sign}) == 2


@pytest.mark.parametrize("mean", [0.0, 0.03, -0.05])
def test_differences_are_moved_to_the_mean_and_everything_else_to_none(mean):
    pair = pair_of()

    gain, guards, (mask, against) = differences(Truth("moved", mean))

    assert gain == pytest.approx(pair.gain - pair.gain.mean() + mean)
    assert guards.mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
    assert against[mask].mean() == pytest.approx(0, abs=1e-12)


def test_a_tenth_loses_so_much_that_the_mean_is_as_said():
    """Six of 60 lose .4; the others, centred, gain what makes it .03 over all."""
    pair = pair_of()
    flat = Pair(np.zeros(N), pair.guards, pair.standing, SLICES)

    gain, guards, against = differences(Truth("harmed"), pair=flat)

    assert (gain == -0.4).sum() == 6
    assert gain.mean() == pytest.approx(0.03)
    assert guards.mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
    assert against is None


@pytest.mark.parametrize(("n_high", "n_of_them"), [(10, 6), (6, 6), (4, 4)])
def test_harm_falls_on_those_that_stand_at_least_at_the_loss(n_high, n_of_them):
    standing = np.where(np.arange(N) < n_high, 0.4, 0.39)
    pair = Pair(np.zeros(N), np.zeros((N, 0)), standing, SLICES)

    gain, _, _ = differences(Truth("harmed"), pair=pair, k=3)

    for part in np.split(gain, 3):
        assert (part[:n_high] == -0.4).sum() == n_of_them
        assert (part == -0.4).sum() == 6


@pytest.mark.parametrize("place", [0, 1])
def test_a_lost_slice_falls_by_twice_the_margin_and_the_rest_gains(place):
    pair, policy_asked = pair_of(), policy(margin=0.05)

    gain, _, _ = differences(Truth("slice lost", place=place), said=policy_asked)

    inside = SLICES[:, place]
    assert gain[inside].mean() == pytest.approx(-0.1)
    centred = pair.gain - pair.gain.mean()
    assert gain[~inside] == pytest.approx(centred[~inside] + 0.03)


def test_a_slice_that_holds_nothing_loses_nothing():
    pair = pair_of()
    empty = Pair(pair.gain, pair.guards, pair.standing, np.zeros((N, 1), dtype=bool))

    gain, _, _ = differences(Truth("slice lost"), pair=empty)

    assert gain == pytest.approx(pair.gain - pair.gain.mean() + 0.03)


# --- all together --------------------------------------------------------------------------------


def outcomes(pair, n_made, seed=0, **more):
    policy_asked = policy(
        slices=("a", "b"), guard_rails=GuardRails(measures=RAILS), smallest_slice=2
    )
    rng = np.random.default_rng(seed)
    return list(made(policy_asked, pair, Truth("swapped"), n_made=n_made, rng=rng, **more))


@pytest.mark.parametrize("n_families", [None, 18])
def test_parts_add_up_to_as_many_as_were_asked_for(monkeypatch, n_families):
    """60 queries of 36 families: seven comparisons at a time, or fourteen of half as many."""
    monkeypatch.setattr(making, "CHUNK", 450)

    sizes = [len(part.is_kept) for part in outcomes(pair_of(), 20, n_families=n_families)]

    assert sizes == ([7, 7, 6] if n_families is None else [15, 5])


def test_of_more_queries_than_are_drawn_at_a_time_one_comparison_is(monkeypatch):
    monkeypatch.setattr(making, "CHUNK", N // 2)

    assert [len(part.is_kept) for part in outcomes(pair_of(families=None), 3)] == [1, 1, 1]


def test_a_rule_for_slices_draws_them_anew_for_each_comparison():
    drawn = as_drawn(N, 40)

    masks = making._random_masks((0.05, 0.5, 0.26), drawn, np.random.default_rng(0))

    by_comparison = masks.reshape(3, 40, N)
    assert by_comparison.sum(axis=2).tolist() == [[3] * 40, [30] * 40, [16] * 40]
    assert len({row.tobytes() for row in by_comparison[1]}) == 40
    tests = outcomes(pair_of(families=None), 5, shares=(0.5, 0.5, 0.2))
    assert tests[0].blocks.shape == (1 + 3 + 2 + 1, 5)
