"""Another prompt beside an earlier one: a second computation, what is held back, what is said."""

import math
import statistics

import numpy as np
import pytest
from scipy import stats

from benchwright.agreement.bootstrap import kappa_difference_with_interval
from benchwright.agreement.coefficients import Weights
from benchwright.calibration.improving import improvement
from benchwright.calibration.words import change

SCALE = (0, 1, 2, 3)


def made(spread_before=1.2, spread_after=0.5, n_queries=25, each=10):
    """People's grades, and those of two prompts that scatter about them."""
    rng = np.random.default_rng(3)
    people, before, after = {}, {}, {}
    for query in range(n_queries):
        grades = rng.integers(0, 4, each)
        people[f"q{query}"] = {f"d{at}": int(grade) for at, grade in enumerate(grades)}
        for of, spread in ((before, spread_before), (after, spread_after)):
            off = np.clip(np.round(grades + rng.normal(0, spread, each)), 0, 3)
            of[f"q{query}"] = {f"d{at}": int(grade) for at, grade in enumerate(off)}
    return people, before, after


def kappa_by_hand(pairs):
    """Quadratic kappa from its definition: mean squared distance over that of all combinations."""
    met = statistics.fmean((a - b) ** 2 for a, b in pairs)
    chance = statistics.fmean((a - b) ** 2 for a, _ in pairs for _, b in pairs)
    return 1 - met / chance


def pairs_of(people, machine):
    return [
        (grade, machine[query][document])
        for query, by_document in people.items()
        for document, grade in by_document.items()
    ]


def test_kappas_and_exact_agreement_are_those_of_a_second_computation():
    people, before, after = made()

    measured = improvement(people, before, after, scale=SCALE)

    first, second = (pairs_of(people, of) for of in (before, after))
    assert measured.kappa_before.value == pytest.approx(kappa_by_hand(first))
    assert measured.kappa_after.value == pytest.approx(kappa_by_hand(second))
    assert measured.kappa.value == pytest.approx(kappa_by_hand(second) - kappa_by_hand(first))
    assert measured.exact_before == pytest.approx(statistics.fmean(a == b for a, b in first))
    assert (measured.n_pairs, measured.n_queries, measured.n_families) == (250, 25, 25)


def test_interval_of_exact_agreement_is_students_t_over_families():
    people, before, after = made()

    exact = improvement(people, before, after, scale=SCALE).exact

    gains = [
        statistics.fmean(
            (after[query][d] == grade) - (before[query][d] == grade) for d, grade in of.items()
        )
        for query, of in people.items()
    ]
    half = stats.t.ppf(0.975, len(gains) - 1) * statistics.stdev(gains) / math.sqrt(len(gains))
    assert exact.value == pytest.approx(statistics.fmean(gains))
    assert (exact.low, exact.high) == pytest.approx((exact.value - half, exact.value + half))


def test_interval_of_kappa_is_the_spread_of_families_drawn_alike_for_both():
    people, before, after = made()
    families = {f"q{n}": f"family {n // 2}" for n in range(25)}

    kappa = improvement(people, before, after, scale=SCALE, families=families).kappa

    rng = np.random.default_rng(11)
    names = sorted(set(families.values()))
    differences = []
    for _ in range(600):
        drawn = [q for name in rng.choice(names, len(names)) for q in people if families[q] == name]
        first, second = (
            [(people[q][d], of[q][d]) for q in drawn for d in people[q]] for of in (before, after)
        )
        differences.append(kappa_quickly(second) - kappa_quickly(first))
    low, high = np.quantile(differences, [0.025, 0.975])
    assert (kappa.low, kappa.high) == pytest.approx((low, high), abs=0.02)


def kappa_quickly(pairs):
    a, b = np.array(pairs, dtype=float).T
    return 1 - ((a - b) ** 2).mean() / ((a[:, None] - b[None, :]) ** 2).mean()


def test_same_seed_gives_the_same_interval():
    people, before, after = made()

    first, again, other = (
        improvement(people, before, after, scale=SCALE, seed=seed).kappa for seed in (5, 5, 6)
    )

    assert first == again
    assert (first.low, first.high) != (other.low, other.high)


def test_pairs_of_a_family_with_an_example_are_left_out():
    people, before, after = made(n_queries=30)
    families = {"q0": "a", "q1": "a", "q2": "b"}

    measured = improvement(
        people, before, after, scale=SCALE, examples_of=["q0"], families=families
    )

    rest = {query: of for query, of in people.items() if query not in {"q0", "q1"}}
    assert (measured.n_pairs, measured.n_shown, measured.n_queries) == (280, 20, 28)
    assert measured.kappa_after.value == pytest.approx(kappa_by_hand(pairs_of(rest, after)))


def test_pairs_that_not_all_three_graded_on_the_scale_do_not_count():
    people, before, after = made()
    del before["q0"]
    after["q1"]["d0"] = 7
    people["q2"]["d0"] = 9

    assert improvement(people, before, after, scale=SCALE).n_pairs == 250 - 10 - 2


@pytest.mark.parametrize(
    ("spreads", "outcome", "words"),
    [
        ((1.2, 0.3), "better", "Better: quadratic kappa with people went from"),
        ((0.3, 1.2), "worse", "Worse: quadratic kappa with people went from"),
        ((0.8, 0.8), "alike", "No difference shown: quadratic kappa"),
    ],
)
def test_outcome_follows_the_interval_and_is_said_first(spreads, outcome, words):
    measured = improvement(*made(*spreads), scale=SCALE)

    assert measured.outcome == outcome
    assert change(measured).startswith(words)
    assert "250 pairs of 25 queries without an example" in change(measured)
    assert measured.as_json()["outcome"] == outcome


def test_below_the_limits_no_verdict_is_given():
    measured = improvement(*made(n_queries=19), scale=SCALE)

    assert measured.outcome == ""
    assert change(measured).startswith(
        "Too few for a verdict: people and both prompts graded 190 pairs of 19 queries without an "
        "example; 200 pairs of 20 queries are enough."
    )


def test_nothing_in_common_is_no_comparison():
    people, before, after = made(n_queries=2)

    assert improvement(people, before, {}, scale=SCALE) is None
    assert improvement(people, before, after, scale=SCALE, examples_of=["q0", "q1"]) is None


def test_one_and_the_same_grade_throughout_has_no_kappa():
    people = {f"q{n}": {f"d{at}": 1 for at in range(10)} for n in range(20)}

    measured = improvement(people, people, people, scale=SCALE)

    assert measured.kappa.value is None
    assert "Kappa cannot be compared, because both gave one and the same grade" in change(measured)


def test_difference_of_one_cluster_has_no_interval():
    tables = np.array([[[3, 1], [1, 3]]])

    measured = kappa_difference_with_interval(
        tables, tables[:, ::-1], Weights.NONE, np.random.default_rng(0)
    )

    assert (measured.value, measured.low) == (-1.0, None)
