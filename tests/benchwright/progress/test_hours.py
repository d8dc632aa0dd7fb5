"""Active time from when somebody judged."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from benchwright.progress.pace import LONGEST_GAP, Act, active_times

NINE = datetime(2026, 1, 2, 9)


def seconds(*acts: tuple[int, int | None]) -> list[float]:
    """Of acts as (seconds after nine, dwell in seconds)."""
    made = [
        Act(NINE + timedelta(seconds=at), None if dwell is None else timedelta(seconds=dwell))
        for at, dwell in acts
    ]
    return [time.total_seconds() for time in active_times(made)]


def test_gaps_of_up_to_five_minutes_count():
    assert seconds((0, 10), (40, 30), (340, 5)) == [10, 40, 300]


def test_a_longer_gap_is_a_break_of_which_the_reading_alone_counts():
    assert seconds((0, None), (301, 25), (900, None), (9000, 4000)) == [0, 25, 0, 300]


@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 900)), max_size=30))
def test_no_more_is_counted_than_went_by(acts):
    acts = sorted(acts)

    counted = sum(seconds(*acts))

    longest = LONGEST_GAP.total_seconds()
    assert 0 <= counted <= (acts[-1][0] - acts[0][0] + longest if acts else 0)


@given(st.lists(st.integers(0, 299), min_size=1, max_size=30))
def test_an_hour_without_a_break_counts_whole(gaps):
    times = [sum(gaps[:n]) for n in range(len(gaps) + 1)]

    assert sum(seconds(*((time, None) for time in times))) == sum(gaps)
