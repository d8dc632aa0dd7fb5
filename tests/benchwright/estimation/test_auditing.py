"""The audited rule: exact bounds, and a switch that goes off by itself and stays off."""

import itertools

import pytest
from scipy import stats

from benchwright.estimation.auditing import (
    RunningAudit,
    audited,
    is_checked,
    least_audited,
    most_relevant,
)
from benchwright.estimation.errors import ArraysError

BOUNDS = [(0, 200, 0.0149), (1, 200, 0.0235), (1, 300, 0.0157), (2, 300, 0.0208)]


@pytest.mark.parametrize(("x", "m", "bound"), BOUNDS)
def test_bound_is_the_known_one_and_the_share_at_which_so_few_are_rare(x, m, bound):
    found = most_relevant(x, m)

    assert round(found, 4) == bound
    assert stats.binom.cdf(x, m, found) == pytest.approx(0.05)


def test_bound_of_all_is_one_and_of_no_counts_refused():
    assert most_relevant(5, 5) == 1
    assert most_relevant(0, 0) == 1
    for x, m in ((-1, 5), (6, 5)):
        with pytest.raises(ArraysError):
            most_relevant(x, m)


ROWS = [
    (200, 0, True, "not more than 2.0%"),
    (200, 1, False, "more than 2.0%: this judge's 0 spares no work here"),
    (300, 1, True, "not more than 2.0%"),
    (199, 0, False, "200 must be audited. Judge 1 more"),
]


@pytest.mark.parametrize(("m", "x", "is_allowed", "words"), ROWS)
def test_audit_allows_or_says_why_not(m, x, is_allowed, words):
    found = audited(m, x)

    assert found.is_allowed is is_allowed
    assert words in found.why


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
