"""The audited rule: exact bounds, and a switch that goes off by itself and stays off."""

import itertools
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from scipy import stats

from benchwright.estimation.auditing import (
    RunningAudit,
    audit_order,
    audited,
    bound_in_words,
    is_checked,
    least_audited,
    most_relevant,
)
from benchwright.estimation.errors import ArraysError

BOUNDS = [(0, 200, 0.0149), (1, 200, 0.0235), (1, 300, 0.0157), (2, 300, 0.0208)]


@pytest.mark.parametrize(("x", "m", "bound"), BOUNDS)
def test_bound_is_the_known_one_and_the_share_at_which_so_few_are_rare(x, m, bound):
    result = most_relevant(x, m)

    assert round(result, 4) == bound
    assert stats.binom.cdf(x, m, result) == pytest.approx(0.05)


def test_bound_of_all_is_one_and_of_no_counts_refused():
    assert most_relevant(5, 5) == 1
    assert most_relevant(0, 0) == 1
    for x, m in ((-1, 5), (6, 5)):
        with pytest.raises(ArraysError):
            most_relevant(x, m)


ROWS = [
    (200, 0, True, "not more than 0.02."),
    (200, 1, False, "more than 0.02: this judge's 0 spares no work here"),
    (300, 1, True, "not more than 0.02."),
    (199, 0, False, "200 must be audited. Judge 1 more"),
]


@pytest.mark.parametrize(("m", "x", "is_allowed", "words"), ROWS)
def test_audit_allows_or_says_why_not(m, x, is_allowed, words):
    result = audited(m, x)

    assert result.is_allowed is is_allowed
    assert words in result.why


def test_bound_that_is_told_is_never_below_the_one_that_decides():
    for m in range(200, 800):
        for x in range(10):
            bound = float(bound_in_words(most_relevant(x, m)))
            assert 0 <= bound - most_relevant(x, m) < 1e-4
            assert (bound <= 0.02) is audited(m, x).is_allowed


def test_least_audit_is_the_first_that_would_be_allowed():
    for x in range(4):
        n = least_audited(x)
        assert audited(n, x).is_allowed
        assert not audited(n - 1, x).is_allowed


def test_running_audit_goes_off_when_its_window_says_so_and_stays_off():
    running = RunningAudit.begun([False] * 200)
    for outcome in [True] + [False] * 150:
        # One of fewer than 236 is already too many to be sure.
        running.add(outcome)

    assert not running.is_allowed
    assert running.bound < 0.02
    running.add(False)
    assert not running.is_allowed


def test_running_audit_looks_at_the_last_three_hundred_alone():
    outcomes = [False] * 300 + [True] + [False] * 299 + [True] + [False] * 400
    running = RunningAudit.begun(outcomes[:300])

    for n, outcome in enumerate(outcomes[300:], start=301):
        is_allowed = running.add(outcome)
        last = outcomes[max(0, n - 300) : n]
        assert running.bound == most_relevant(sum(last), len(last))
        assert is_allowed
    assert RunningAudit.begun(outcomes).bound == running.bound
    assert not (running.add(True) and running.add(True))


def test_running_audit_that_was_never_allowed_is_off():
    assert not RunningAudit.begun([True, *[False] * 199]).is_allowed
    assert not RunningAudit.begun([False] * 150).is_allowed


def test_five_of_a_hundred_skipped_are_checked_and_always_the_same():
    ids = list(itertools.product(range(100), range(100)))

    checked = [pair for pair in ids if is_checked(f"q{pair[0]}", f"d{pair[1]}", seed=1)]

    assert len(checked) == pytest.approx(500, abs=90)
    assert is_checked(f"q{checked[0][0]}", f"d{checked[0][1]}", seed=1)
    assert checked != [pair for pair in ids if is_checked(f"q{pair[0]}", f"d{pair[1]}", seed=2)]


GROUPS = ["a"] * 60 + ["b"] * 37 + ["c"] * 3
IDS = [("q", f"d{number}") for number in range(100)]


def test_every_beginning_of_the_order_gives_each_group_its_share():
    order = audit_order(GROUPS, IDS, seed=3)

    assert sorted(order) == list(range(100))
    for m in range(1, 101):
        n_of = Counter(GROUPS[place] for place in order[:m])
        for group, size in Counter(GROUPS).items():
            assert abs(n_of[group] - m * size / 100) < 2


def test_each_document_is_drawn_with_the_same_probability():
    n_of = Counter(
        place for seed in range(2000) for place in audit_order(GROUPS, IDS, seed=seed)[:20]
    )

    # Binomial of 2,000 draws at .2: a standard error of 18, and 100 of them.
    assert all(abs(n_of[place] - 400) < 75 for place in range(100))
    for group in "abc":
        places = [place for place in range(100) if GROUPS[place] == group]
        mean = sum(n_of[place] for place in places) / len(places)
        assert mean == pytest.approx(400, abs=40 / len(places) ** 0.5 + 4)


def test_order_hangs_on_ids_and_seed_and_not_on_places():
    order = [IDS[place] for place in audit_order(GROUPS, IDS, seed=3)]
    turned = audit_order(GROUPS[::-1], IDS[::-1], seed=3)

    assert [IDS[::-1][place] for place in turned] == order
    assert [IDS[place] for place in audit_order(GROUPS, IDS, seed=4)] != order


# --- what the documentation says -----------------------------------------------------------------

PAGE = Path(__file__).parents[3] / "docs" / "machine-judges.md"


def simulated():
    """{(share, m): (allowed, still on after 100 and 300 checks)} of the table in the docs."""
    lines = PAGE.read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {
        (float(row[0][:-1]) / 100, int(row[1])): (float(row[2]), float(row[3]), float(row[4]))
        for row in rows
        if len(row) == 8 and row[0].endswith("%") and row[1] in ("200", "300")
    }


RATES = [0.01, 0.02, 0.03, 0.05]


@pytest.mark.parametrize("m", [200, 300])
@pytest.mark.parametrize("share", RATES)
def test_documented_share_of_allowed_audits_is_that_of_the_binomial(share, m):
    most = max(x for x in range(5) if audited(m, x).is_allowed)

    # 20,000 audits.
    assert simulated()[share, m][0] == pytest.approx(stats.binom.cdf(most, m, share), abs=0.011)


@pytest.mark.parametrize("share", RATES)
def test_documented_share_that_stands_comes_out_again(share):
    rng, n = Random(5), 200
    on = Counter()
    for _ in range(n):
        running = RunningAudit.begun([False] * 200)
        for check in range(1, 301):
            if not running.add(rng.random() < share):
                break
            on[check] += 1
    _, after_100, after_300 = simulated()[share, 200]

    assert on[100] / n == pytest.approx(after_100, abs=0.11)
    assert on[300] / n == pytest.approx(after_300, abs=0.09)
