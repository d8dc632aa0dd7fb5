"""Documents of unequal probability: unbiased whatever the guess, and computed a second way."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from benchwright.estimation.documents import (
    DocumentDraw,
    discounts,
    document_mean,
    draw_documents,
    guesses,
    halves_of,
    probabilities,
)
from benchwright.estimation.errors import ArraysError, BudgetError, TooFewFamiliesError
from benchwright.estimation.planning import compared, whole_queries_for

N, EACH = 40, 12
QUERIES = [f"q{number}" for number in range(N)]
OF_QUERY = np.repeat(np.arange(N), EACH)
RANKS = np.tile(np.arange(1, EACH + 1), N)
AMOUNTS = discounts(RANKS, measure="DCG", cutoff=10)


def grades_made(seed=0):
    rng = np.random.default_rng(seed)
    quality = np.repeat(rng.normal(0, 0.8, N), EACH)
    return np.clip(np.round(1.6 - 0.12 * RANKS + quality + rng.normal(0, 0.7, N * EACH)), 0, 3)


def draw_of(budget=120, seed=0, amounts=AMOUNTS):
    queries = [QUERIES[at] for at in OF_QUERY]
    documents = [f"d{rank}" for rank in RANKS]
    return draw_documents(queries, documents, amounts, budget=budget, seed=seed)


def estimate(grades, draw, **more):
    fields = {"n_queries": N, "families": QUERIES, **more}
    seen = np.where(draw.is_drawn, grades, np.nan)
    return document_mean(AMOUNTS, seen, draw, OF_QUERY, **fields)


def test_probabilities_sum_to_the_budget_and_follow_the_amounts():
    pi = probabilities(AMOUNTS, 120)

    counts = AMOUNTS > 0
    assert pi.sum() == pytest.approx(120, abs=1e-9)
    assert (pi[~counts] == 0).all()
    assert pi[counts].min() >= 0.02
    assert pi.max() <= 1
    free = counts & (pi > 0.02) & (pi < 1)
    assert np.ptp(pi[free] / AMOUNTS[free]) < 1e-12
    assert probabilities(-AMOUNTS, 120) == pytest.approx(pi)
    assert (probabilities(AMOUNTS, 1e6) == counts).all()


@pytest.mark.parametrize("budget", [0, -1, 7.9, math.nan])
def test_budget_that_is_too_small_is_refused(budget):
    with pytest.raises(BudgetError, match="for 400 documents; expected at least 8"):
        probabilities(AMOUNTS, budget)


def test_discounts_are_those_of_the_measures():
    assert discounts(np.array([0, 1, 5, 6]), measure="P", cutoff=5).tolist() == [0, 0.2, 0.2, 0]
    assert discounts(np.array([3]), measure="DCG", cutoff=3)[0] == pytest.approx(0.5)
    with pytest.raises(ArraysError, match="'nDCG' is not linear"):
        discounts(np.array([1]), measure="nDCG", cutoff=3)


def test_draw_is_the_same_again_and_as_large_as_its_budget_on_average():
    again = draw_of(seed=3)

    assert (draw_of(seed=3).is_drawn == again.is_drawn).all()
    sizes = [draw_of(seed=seed).n_drawn for seed in range(60)]
    spread = math.sqrt((again.probabilities * (1 - again.probabilities)).sum())
    assert np.mean(sizes) == pytest.approx(120, abs=4 * spread / math.sqrt(60))


def test_estimate_is_that_of_loops():
    grades, draw = grades_made(), draw_of()
    machine = np.clip(grades + np.tile([0, 1, 0], N * EACH // 3), 0, 3).astype(np.int64)

    result = estimate(grades, draw, machine=machine)

    second = halves_of(QUERIES, seed=0)
    totals = np.zeros(N)
    for at, (query, amount) in enumerate(zip(OF_QUERY, AMOUNTS, strict=True)):
        others = [
            other
            for other in range(len(grades))
            if draw.is_drawn[other] and second[OF_QUERY[other]] != second[query]
        ]
        w = {other: 1 / draw.probabilities[other] for other in others}
        mean = sum(w[o] * grades[o] for o in others) / sum(w.values())
        alike = [other for other in others if machine[other] == machine[at]]
        here = sum(w[o] * grades[o] for o in alike) / sum(w[o] for o in alike) if alike else mean
        guess = (len(alike) * here + 3 * mean) / (len(alike) + 3)
        known = (grades[at] - guess) / draw.probabilities[at] if draw.is_drawn[at] else 0
        totals[query] += amount * (guess + known)
    assert result.per_query == pytest.approx(totals)
    low, high = stats.t.interval(0.95, N - 1, totals.mean(), stats.sem(totals))
    assert (result.mean, result.low, result.high) == pytest.approx((totals.mean(), low, high))
    assert result.n_labels == (draw.is_drawn & (AMOUNTS > 0)).sum()


def test_all_labelled_is_the_measure_itself():
    grades = grades_made()

    mean = estimate(grades, draw_of(budget=10**6))

    truth = [(AMOUNTS * grades)[query == OF_QUERY].sum() for query in range(N)]
    assert mean.per_query == pytest.approx(truth)


def test_mean_over_all_draws_is_the_truth_whatever_the_guess():
    """Every pattern of four documents, weighted by its probability."""
    pi = np.array([0.3, 0.9, 0.5, 0.2])
    a, g, guess = np.array([1, 0.6, -0.5, 0.4]), np.array([3, 0, 2, 1.0]), np.array([9, -4, 1, 0.5])
    expected = 0.0
    for pattern in itertools.product([False, True], repeat=4):
        is_drawn = np.array(pattern)
        chance = np.where(is_drawn, pi, 1 - pi).prod()
        draw = DocumentDraw(0, 2, np.append(pi, np.ones(20)), np.append(is_drawn, [True] * 20))
        estimate = document_mean(
            np.append(a, np.ones(20)),
            np.append(np.where(is_drawn, g, np.nan), np.zeros(20)),
            draw,
            np.append(np.zeros(4, dtype=int), np.arange(1, 21)),
            n_queries=21,
            families=[f"f{number}" for number in range(21)],
            expected=np.append(guess, np.ones(20)),
        )
        expected += chance * estimate.mean
    assert expected == pytest.approx((a * g).sum() / 21)


def test_guess_never_sees_its_own_half():
    grades, draw = grades_made(), draw_of()
    is_second = halves_of(QUERIES, seed=0)[OF_QUERY]
    changed = np.where(is_second, grades, 3 - grades)

    one, other = (
        guesses(of, draw.is_drawn, draw.probabilities, is_second) for of in (grades, changed)
    )

    assert (one[~is_second] == other[~is_second]).all()
    assert (one[is_second] != other[is_second]).all()


def test_what_does_not_fit_is_refused():
    grades, draw = grades_made(), draw_of()
    unseen = np.full(len(grades), np.nan)

    with pytest.raises(ArraysError, match="drawn documents have no grade"):
        document_mean(AMOUNTS, unseen, draw, OF_QUERY, n_queries=N, families=QUERIES)
    with pytest.raises(ArraysError, match="40 documents that count were not to be drawn"):
        document_mean(AMOUNTS + OF_QUERY % 2, grades, draw, OF_QUERY, n_queries=N, families=QUERIES)
    with pytest.raises(TooFewFamiliesError):
        estimate(grades, draw, families=[f"f{number % 19}" for number in range(N)])
    with pytest.raises(ArraysError, match="1 queries, 2 documents, 3 amounts"):
        draw_documents(["q"], ["d", "e"], np.ones(3), budget=2, seed=0)


# --- planning ------------------------------------------------------------------------------------


def test_plan_of_whole_queries_and_of_documents_is_worked_out_by_hand():
    whole, spread = compared(
        AMOUNTS,
        OF_QUERY,
        n_queries=N,
        budget=100,
        query_deviation=1.5,
        grade_deviation=0.9,
        rho=0.4,
        seconds_a_label=30,
        seconds_a_query=60,
    )

    # Ten of the twelve documents of a query count: ten queries for a hundred labels.
    assert (whole.n_queries, whole.n_labels) == pytest.approx((10, 100))
    n_eff = 10 / (1 - 0.75 * 0.16)
    assert whole.half_width == pytest.approx(stats.t.ppf(0.975, 9) * 1.5 / math.sqrt(n_eff))
    assert whole.hours == pytest.approx((100 * 30 + 10 * 60) / 3600)
    pi = probabilities(AMOUNTS, 100)
    variance, touched = 1.5**2, 0.0
    for query in range(N):
        none = 1.0
        for a, p in zip(AMOUNTS[query == OF_QUERY], pi[query == OF_QUERY], strict=True):
            none *= 1 - p
            variance += a**2 * 0.81 * (1 - p) / p / N if p else 0
        touched += 1 - none
    assert spread.half_width == pytest.approx(stats.t.ppf(0.975, N - 1) * math.sqrt(variance / N))
    assert (spread.n_labels, spread.n_queries) == pytest.approx((100, touched))
    assert spread.hours == pytest.approx((100 * 30 + touched * 60) / 3600)
    assert spread.half_width < whole.half_width


def test_plan_of_one_run_among_several_takes_the_probabilities_of_their_draw():
    pi = probabilities(AMOUNTS + 0.2, 100)  # another run has all twelve documents

    whole, spread = compared(
        AMOUNTS, OF_QUERY, n_queries=N, budget=100, query_deviation=1.5, grade_deviation=0.9, pi=pi
    )

    assert whole.n_queries == pytest.approx(100 / EACH)
    inside = sum(
        a**2 * 0.81 * (1 - p) / p / N for a, p in zip(AMOUNTS, pi, strict=True) if a and p < 1
    )
    reach = stats.t.ppf(0.975, N - 1)
    assert spread.half_width == pytest.approx(reach * math.sqrt((1.5**2 + inside) / N))
    assert spread.n_labels == pytest.approx(100)


def test_whole_queries_that_are_as_narrow_are_the_fewest():
    more = {"n_queries": 40, "n_each": 10, "query_deviation": 1.5}

    whole_queries = whole_queries_for(0.8, **more)

    def width(n):
        return stats.t.ppf(0.975, n - 1) * 1.5 / math.sqrt(n)

    n = int(whole_queries.n_queries)
    assert width(n) <= 0.8 < width(n - 1)
    assert (whole_queries.half_width, whole_queries.n_labels) == pytest.approx((width(n), 10 * n))
    assert whole_queries.hours == pytest.approx((10 * n * 30 + n * 20) / 3600)
    assert whole_queries_for(0.1, **more).n_queries == 40


def test_planned_width_is_what_draws_come_to():
    """Over many draws of one collection the plan's half width is the mean one within a tenth."""
    grades = grades_made()
    per_query = np.array([(AMOUNTS * grades)[query == OF_QUERY].sum() for query in range(N)])
    widths = []
    for seed in range(60):
        mean = estimate(grades, draw_of(budget=100, seed=seed))
        widths.append((mean.high - mean.low) / 2)
    counts = AMOUNTS > 0
    _, spread = compared(
        AMOUNTS,
        OF_QUERY,
        n_queries=N,
        budget=100,
        query_deviation=float(per_query.std(ddof=1)),
        grade_deviation=float(grades[counts].std()),
    )

    assert np.mean(widths) == pytest.approx(spread.half_width, rel=0.1)
