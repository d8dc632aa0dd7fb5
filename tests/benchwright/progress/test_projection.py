"""When a pool will be done."""

from datetime import date, timedelta

import pytest

from benchwright.progress.pace import Projection, projection

TODAY = date(2026, 3, 16)


def days_ago(n: int) -> date:
    return TODAY - timedelta(days=n)


def test_pace_is_that_of_calendar_days_since_the_first_label():
    assert projection({days_ago(3): 20, days_ago(1): 20}, n_left=25, today=TODAY) == Projection(
        10, TODAY + timedelta(days=3)
    )


def test_days_before_the_last_two_weeks_do_not_count():
    labels = {days_ago(14): 10_000, days_ago(13): 14}

    assert projection(labels, n_left=2, today=TODAY).per_day == 1


@pytest.mark.parametrize(
    ("labels", "n_left"),
    [({TODAY: 5}, 0), ({}, 10), ({days_ago(20): 50}, 10), ({days_ago(13): 1}, 10**6)],
    ids=["finished", "not begun", "abandoned", "never"],
)
def test_no_end_is_foretold(labels, n_left):
    assert projection(labels, n_left=n_left, today=TODAY) is None
