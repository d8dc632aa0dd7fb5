"""The time of a label, freed from the length of the document."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.progress.pace import Timed, typical_chars, typical_seconds

LENGTHS = [100, 200, 300, 400, 500, 600, 700, 800, 900]
LINEAR = [Timed(5 + chars / 100, chars) for chars in LENGTHS]
times = st.lists(
    st.builds(
        Timed,
        seconds=st.floats(0, 1e4, allow_subnormal=False),
        chars=st.none() | st.integers(0, 10**6),
    ),
    min_size=5,
    max_size=60,
)


@pytest.mark.parametrize(("at", "seconds"), [(100, 6), (500, 10), (900, 14), (None, 10)])
def test_time_is_that_of_a_document_of_the_length(at, seconds):
    assert typical_seconds(LINEAR, at_chars=at) == pytest.approx(seconds)


@pytest.mark.parametrize(("at", "seconds"), [(0, 6), (10_000, 14)])
def test_lengths_that_nobody_saw_are_not_extrapolated_to(at, seconds):
    assert typical_seconds(LINEAR, at_chars=at) == pytest.approx(seconds)


def test_pause_moves_neither_slope_nor_median():
    with_pause = [Timed(3600, time.chars) if time.chars == 300 else time for time in LINEAR]

    assert typical_seconds(with_pause, at_chars=500) == pytest.approx(10, abs=1)


def test_longer_documents_read_faster_give_the_plain_median():
    falling = [Timed(20 - chars / 100, chars) for chars in LENGTHS]

    assert typical_seconds(falling, at_chars=900) == statistics.median(t.seconds for t in falling)


def test_few_times_say_nothing():
    assert typical_seconds(LINEAR[:4]) is None


def test_typical_length_is_that_of_the_known():
    assert typical_chars([Timed(1, None), Timed(1, 10), Timed(1, 30)]) == 20
    assert typical_chars([Timed(1, None)]) is None


@given(times, st.none() | st.integers(0, 10**6))
def test_time_is_finite_and_not_negative(times, at):
    assert 0 <= typical_seconds(times, at_chars=at) < float("inf")


@given(times)
def test_twice_as_slow_is_twice_the_time(times):
    slow = [Timed(2 * time.seconds, time.chars) for time in times]
    at = typical_chars(times)

    once, twice = typical_seconds(times, at_chars=at), typical_seconds(slow, at_chars=at)
    assert twice == pytest.approx(2 * once)
