"""Corrected means: known values, a second computation, and what is refused."""

import math
import statistics

import numpy as np
import pytest
from scipy import stats

from benchwright.estimation.corrected import (
    LEAST_FAMILIES,
    corrected_mean,
    corrected_slices,
    effective,
    prediction_powered,
)
from benchwright.estimation.drawing import Draw, drawn
from benchwright.estimation.errors import (
    ArraysError,
    NotDrawnError,
    StratumError,
    TooFewFamiliesError,
)
from tests.benchwright.estimation import llmjudge
from tests.performance import judge_simulation

RUN_A, RUN_B, JUDGE = "Olz-multiprompt", "h2oloo-zeroshot1", "willia-umbrela2"
# lambda, theta, se, low, high, all 25: people's, machine's. METHODS' digits.
GOLDEN = [
    ("ndcg", False, 0.0, 0.634492, 0.078339, 0.453843, 0.815141, 0.592611, 0.650376),
    ("ndcg", True, 0.077295, 0.034004, 0.073035, -0.134415, 0.202422, 0.063794, 0.225097),
    ("precision", False, 0.193089, 0.589959, 0.102294, 0.354069, 0.825850, 0.544000, 0.508000),
    ("precision", True, 0.031142, -0.008817, 0.053483, -0.132149, 0.114516, 0.032000, 0.128000),
    ("reciprocal", False, 0.376477, 0.667768, 0.126862, 0.375224, 0.960312, 0.664667, 0.692667),
    ("reciprocal", True, 0.359039, 0.155838, 0.123517, -0.128994, 0.440669, 0.073333, 0.237333),
]


def each_alone(y, f_n, f_all):
    """The estimator where every query is its own family."""
    return prediction_powered(
        np.array(y), np.array(f_n), np.ones(len(y)), np.array(f_all), np.ones(len(f_all))
    )


@pytest.mark.data
@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"{row[0]}-{row[1]}")
def test_known_values_of_real_judges_come_out(row):
    measure, is_difference, weight, mean, error, low, high, of_people, of_machine = row
    machine = llmjudge.judge(JUDGE)

    def of(labels):
        first, second = (getattr(llmjudge.values(run, labels), measure) for run in (RUN_A, RUN_B))
        return second - first if is_difference else first

    y, f = of(llmjudge.people()), of(machine)
    result = each_alone(y[:10], f[:10], f)

    reach = stats.t.ppf(0.975, 8) * result.error
    assert [
        round(float(one), 6)
        for one in (
            result.weight,
            result.mean,
            result.error,
            result.mean - reach,
            result.mean + reach,
            y.mean(),
            f.mean(),
        )
    ] == [weight, mean, error, low, high, of_people, of_machine]


@pytest.mark.data
def test_correlation_of_the_first_known_value_is_the_one_that_is_told():
    labels = llmjudge.judge(JUDGE)
    y = llmjudge.values(RUN_A, llmjudge.people()).ndcg
    f = llmjudge.values(RUN_A, labels).ndcg

    assert round(float(each_alone(y[:10], f[:10], f).rho), 3) == -0.138


def by_hand(y, f, of, f_all, of_all):
    """The same in loops, from the paper's letters: queries with their families."""
    n_q, big_n_q = len(y), len(f_all)
    names, all_names = sorted(set(of)), sorted(set(of_all))
    n, big_n = len(names), len(all_names)
    y_bar, f_bar, f_all_bar = sum(y) / n_q, sum(f) / n_q, sum(f_all) / big_n_q
    z = [sum(a - y_bar for a, b in zip(y, of, strict=True) if b == name) for name in names]
    g = [sum(a - f_bar for a, b in zip(f, of, strict=True) if b == name) for name in names]
    h = [
        sum(a - f_all_bar for a, b in zip(f_all, of_all, strict=True) if b == name)
        for name in all_names
    ]
    weight = sum(a * b for a, b in zip(z, g, strict=True)) / sum(b * b for b in g)
    weight = min(max(weight, 0), 1)
    e = [a - weight * b for a, b in zip(z, g, strict=True)]
    m, big_m = n_q / n, big_n_q / big_n
    variance = sum(a * a for a in e) / (n - 2) / (n * m**2)
    variance += weight**2 * sum(a * a for a in h) / ((big_n - 1) * big_m**2) / big_n
    cross = sum(a * b for a, b in zip(e, g, strict=True)) / ((n - 1) * m**2)
    variance += 2 * weight * cross / big_n
    plain = sum(a * a for a in e) / (n - 2) / (n * m**2)
    left_out = 0.0
    for name, a, b in zip(names, e, g, strict=True):
        own = sum(family == name for family in of) / n_q
        own += b * b / sum(c * c for c in g) if 0 < weight < 1 else 0
        left_out += (a / (1 - own)) ** 2 / n / (n * m**2)
    error = math.sqrt(variance - plain + left_out)
    return y_bar + weight * (f_all_bar - f_bar), error, weight, math.sqrt(variance)


def made(n_families, seed=0, quality=0.7):
    """People's and machine's values of queries in families of one to three."""
    rng = np.random.default_rng(seed)
    people, machine, families = {}, {}, {}
    for family in range(n_families):
        base = rng.random()
        for member in range(1 + family % 3):
            query = f"q{family}-{member}"
            people[query] = float(np.clip(base + rng.normal(0, 0.1), 0, 1))
            noise = (1 - quality) * rng.random()
            machine[query] = float(quality * people[query] + noise + 0.1)
            families[query] = f"f{family}"
    return people, machine, families


@pytest.mark.parametrize("seed", range(5))
def test_families_are_estimated_as_by_hand(seed):
    people, machine, families = made(60, seed)
    draw = drawn(set(families.values()), 25, seed=seed)
    mine = [query for query in people if families[query] in draw.families]

    estimate = corrected_mean({q: people[q] for q in mine}, machine, draw=draw, families=families)

    mean, error, weight, plain = by_hand(
        [people[q] for q in mine],
        [machine[q] for q in mine],
        [families[q] for q in mine],
        [*machine.values()],
        [families[q] for q in machine],
    )
    assert (estimate.plain_error, estimate.error > plain) == (pytest.approx(plain, rel=1e-12), True)
    assert (estimate.corrected_mean, estimate.error, estimate.weight) == pytest.approx(
        (mean, error, weight), rel=1e-12
    )
    reach = stats.t.ppf(0.975, 23) * error
    assert (estimate.corrected_low, estimate.corrected_high) == pytest.approx(
        (mean - reach, mean + reach), rel=1e-12
    )
    assert (estimate.n_families, estimate.n_all_families) == (25, 60)
    assert estimate.n_queries == len(mine)
    assert estimate.machine_mean == pytest.approx(statistics.fmean(machine.values()))
    assert estimate.n_effective == effective(25, 60, estimate.rho)


def test_every_query_its_own_family_is_the_plain_estimator():
    people, machine, _ = made(40, quality=1.2)
    draw = drawn(machine, 30, seed=3)
    mine = [query for query in machine if query in draw.families]

    estimate = corrected_mean({q: people[q] for q in mine}, machine, draw=draw)

    y, f = np.array([people[q] for q in mine]), np.array([machine[q] for q in mine])
    f_all = np.array([*machine.values()])
    n, n_all = len(y), len(f_all)
    slope, _ = np.polyfit(f, y, 1)
    e = y - y.mean() - slope * (f - f.mean())
    own = 1 / n + (f - f.mean()) ** 2 / ((f - f.mean()) ** 2).sum()
    variance = ((e / (1 - own)) ** 2).sum() / n / n + (slope**2 * f_all.var(ddof=1)) / n_all
    assert 0 < slope < 1
    assert estimate.weight == pytest.approx(slope)
    assert estimate.corrected_mean == pytest.approx(y.mean() + slope * (f_all.mean() - f.mean()))
    assert estimate.error == pytest.approx(math.sqrt(variance))
    assert estimate.rho == pytest.approx(np.corrcoef(y, f)[0, 1])
    low, high = stats.t.interval(0.95, n - 1, y.mean(), stats.sem(y))
    assert (estimate.people_low, estimate.people_high) == pytest.approx((low, high))
    assert (estimate.mean, estimate.low, estimate.is_helped) == (
        estimate.corrected_mean,
        estimate.corrected_low,
        True,
    )


def test_stack_of_samples_is_each_of_them():
    rng = np.random.default_rng(1)
    y, f, sizes = rng.random((4, 20)), rng.random((4, 20)), rng.integers(1, 4, (4, 20)) * 1.0
    all_f, all_sizes = rng.random((4, 50)), rng.integers(1, 4, (4, 50)) * 1.0

    together = prediction_powered(y, f, sizes, all_f, all_sizes)

    for at in range(4):
        alone = prediction_powered(y[at], f[at], sizes[at], all_f[at], all_sizes[at])
        assert [float(column[at]) for column in together] == pytest.approx(
            [float(number) for number in alone]
        )


def test_judge_of_no_use_leaves_peoples_own_interval():
    people, machine, families = made(60)
    against = {query: -value for query, value in machine.items()}
    draw = drawn(set(families.values()), 30, seed=0)
    mine = {query: people[query] for query in people if families[query] in draw.families}

    for useless in (against, dict.fromkeys(machine, 0.5)):
        estimate = corrected_mean(mine, useless, draw=draw, families=families)

        assert not estimate.is_helped
        assert estimate.why.startswith("The judge does not help here: ")
        assert (estimate.mean, estimate.low, estimate.high) == (
            estimate.people_mean,
            estimate.people_low,
            estimate.people_high,
        )
        assert estimate.n_effective == estimate.n_families


def test_values_that_are_all_alike_correlate_with_nothing():
    ones, machine = np.ones(4), np.array([0.1, 0.4, 0.2, 0.9])

    alike = prediction_powered(ones / 2, machine, ones, machine, ones)
    two = prediction_powered(machine[:2], machine[:2], ones[:2], machine, ones)

    assert (alike.mean, alike.weight, alike.rho) == (0.5, 0.0, 0.0)
    assert alike.error == pytest.approx(0.0, abs=1e-12)
    # Of two families nothing is left to tell an error by.
    assert np.isnan(two.error) and np.isnan(two.error_left_out)


def test_ends_stay_in_the_range_of_the_measure():
    people, machine, _ = made(30)
    high = dict.fromkeys(people, 1.0) | {"q0-0": 0.0}
    draw = drawn(machine, 60, seed=0)

    estimate = corrected_mean(high, machine, draw=draw, span=(0, 1))

    assert estimate.people_high == 1.0
    assert estimate.corrected_high == 1.0


def test_effective_number_is_that_of_people_where_all_are_labelled():
    assert effective(50, 50, 0.9) == 50
    assert effective(50, 10**9, 0.5) == pytest.approx(50 / 0.75)


# --- what is refused -----------------------------------------------------------------------------


def test_too_few_drawn_families_are_refused_with_how_many_are_lacking():
    people, machine, _ = made(60)
    draw = drawn(machine, 40, seed=0)
    mine = {query: people[query] for query in draw.families[: LEAST_FAMILIES - 3]}

    with pytest.raises(TooFewFamiliesError, match=r"labelled 17 drawn.*Label 3 more"):
        corrected_mean(mine, machine, draw=draw)


def test_labels_that_were_not_drawn_are_left_out_of_it():
    people, machine, _ = made(60)
    draw = drawn(machine, 30, seed=0)
    mine = {query: people[query] for query in draw.families}

    with_more = corrected_mean(people, machine, draw=draw)

    assert with_more == corrected_mean(mine, machine, draw=draw)


def test_only_the_beginning_of_the_order_is_a_sample():
    people, machine, _ = made(60)
    draw = drawn(machine, 30, seed=0)
    done = {query: people[query] for query in draw.families if query != draw.families[24]}

    assert corrected_mean(done, machine, draw=draw).n_families == 24


@pytest.mark.parametrize(
    "forged",
    [
        lambda draw, machine: Draw(9, draw.frame, draw.families, draw.n_population),
        lambda draw, machine: Draw(0, draw.frame, tuple(sorted(machine)[:30]), draw.n_population),
        lambda draw, machine: drawn([*machine][:50], 30, seed=0),
    ],
    ids=["another seed", "others named", "another population"],
)
def test_sample_that_was_not_drawn_is_refused(forged):
    people, machine, _ = made(60)
    draw = drawn(machine, 30, seed=0)

    with pytest.raises(NotDrawnError, match="were not drawn at random"):
        corrected_mean(people, machine, draw=forged(draw, machine))


def test_value_that_is_none_is_refused():
    people, machine, _ = made(30)
    people["q0-0"] = float("nan")

    with pytest.raises(ArraysError, match="is no number"):
        corrected_mean(people, machine, draw=drawn(machine, 60, seed=0))


# --- draws ---------------------------------------------------------------------------------------


def test_draw_does_not_depend_on_the_order_and_begins_the_same_when_it_grows():
    names = [f"f{number}" for number in range(100)]

    draw = drawn(names, 20, seed=4)

    assert drawn(reversed(names), 20, seed=4) == draw
    assert drawn(names, 40, seed=4).families[:20] == draw.families
    assert drawn(names, 20, seed=5).families != draw.families
    assert len(drawn(names, 500, seed=4).families) == 100
    assert Draw.from_json(draw.as_json()) == draw


def test_every_family_is_drawn_equally_often():
    names = [f"f{number}" for number in range(20)]

    counts = dict.fromkeys(names, 0)
    for seed in range(600):
        for name in drawn(names, 5, seed=seed).families:
            counts[name] += 1

    assert stats.chisquare([*counts.values()]).pvalue > 0.001


def test_strata_have_their_share_and_must_be_whole():
    names = [f"f{number}" for number in range(100)]
    strata = {name: "rare" if int(name[1:]) < 10 else "usual" for name in names}

    draw = drawn(names, 40, seed=1, strata=strata)

    assert draw.n_by_stratum == (("rare", 4), ("usual", 36))
    assert drawn(names, 30, seed=1, strata=strata).n_by_stratum == (("rare", 3), ("usual", 27))
    assert sum(strata[name] == "rare" for name in draw.families) == 4
    assert draw.proved(names, names, strata) == draw.families
    with pytest.raises(NotDrawnError, match="strata must be whole"):
        draw.proved(draw.families[:-1], names, strata)
    with pytest.raises(StratumError, match="'rare' would have 2 of 20"):
        drawn(names, 20, seed=1, strata=strata)


def test_slice_is_estimated_inside_or_says_why_not():
    people, machine, families = made(90)
    draw = drawn(set(families.values()), 70, seed=0)
    mine = {query: people[query] for query in people if families[query] in draw.families}
    half = [query for query in machine if int(families[query][1:]) < 60]
    few = [query for query in machine if int(families[query][1:]) < 5]

    result = corrected_slices(
        mine, machine, {"half": half, "few": few}, draw=draw, families=families
    )

    inside = [query for query in mine if query in set(half)]
    assert result["half"].n_families == len({families[query] for query in inside})
    assert result["half"].n_all_families == 60
    mean, error, *_ = by_hand(
        [people[q] for q in inside],
        [machine[q] for q in inside],
        [families[q] for q in inside],
        [machine[q] for q in half],
        [families[q] for q in half],
    )
    assert (result["half"].corrected_mean, result["half"].error) == pytest.approx((mean, error))
    assert isinstance(result["few"], TooFewFamiliesError)


@pytest.mark.data
def test_intervals_of_real_judges_hold_the_truth():
    """Of a third of the judges and runs: 100 queries, 30 labelled, alone and in families."""
    for populations in (judge_simulation.single, judge_simulation.in_families):
        tally = judge_simulation.Tally()
        targets = judge_simulation.targets_of("ndcg", are_differences=False)[::3]
        rng = np.random.default_rng(1)
        judge_simulation.added(tally, targets, populations, 100, 30, rng)

        assert tally.n == len(targets) * judge_simulation.DRAWS > 20_000
        for name in ("corrected", "chosen"):
            assert 0.93 <= tally.share(name) <= 0.97


def test_people_who_must_label_more_for_an_estimate_are_told_so():
    people, machine, _ = made(60)
    draw = drawn(machine, 25, seed=0)

    with pytest.raises(TooFewFamiliesError, match=r"labelled 25 drawn.*right from 30 on"):
        corrected_mean(people, machine, draw=draw, least_families=30)
