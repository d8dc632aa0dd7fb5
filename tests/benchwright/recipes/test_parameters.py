"""What parameters take and refuse, from texts and as values."""

import math
from datetime import UTC, date, datetime
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.recipes.parameters import Choice, Day, ParameterError, Real, Whole, check
from benchwright.recipes.splits import MODE, Mode

DEPTH = Whole(name="depth", default=10, least=1, most=1000)
SHARE = Real(name="double_share", default=0.0)
RATE = Real(name="rate", least=0, most=5, above=True, below=True)
DAY = Day(name="test_from")


@given(st.integers())
def test_a_whole_number_is_taken_from_its_range_alone(number):
    if 1 <= number <= 1000:
        assert DEPTH.read(number) == DEPTH.read(f" {number} ") == number
    else:
        with pytest.raises(ParameterError, match="expected a whole number from 1 to 1,000"):
            DEPTH.read(number)


@given(st.floats())
def test_a_number_is_taken_from_its_range_alone(number):
    if 0 <= number <= 1:
        assert SHARE.read(number) == SHARE.read(repr(number)) == number
    else:
        with pytest.raises(ParameterError, match="expected a number from 0 to 1"):
            SHARE.read(number)


@pytest.mark.parametrize("ends", [0, 5, -0.0, "5.0"])
def test_open_ends_are_not_taken(ends):
    with pytest.raises(ParameterError, match="a number between 0 and 5"):
        RATE.read(ends)
    assert RATE.read(math.nextafter(5, 0)) < 5
    assert Real(name="x", most=1e9).expected == "a number from 0 to 1,000,000,000"
    assert Real(name="x", above=True).expected == "a number above 0 and at most 1"
    assert Real(name="x", below=True).expected == "a number of at least 0 and below 1"


@pytest.mark.parametrize("raw", [True, 1.5, "1.5", "ten", "", None, [], 1e30, "9" * 5000])
def test_what_is_no_whole_number_is_refused(raw):
    with pytest.raises(ParameterError):
        DEPTH.read(raw)


@pytest.mark.parametrize("raw", [True, math.nan, math.inf, "nan", "half", "", None, []])
def test_what_is_no_number_is_refused(raw):
    with pytest.raises(ParameterError):
        SHARE.read(raw)


@pytest.mark.parametrize("text", ["leave-slice-out", " Leave_Slice_Out ", "leave_slice_out"])
def test_a_choice_is_known_with_hyphens_and_capitals(text):
    assert MODE.read(text) is Mode.LEAVE_SLICE_OUT


def test_an_unknown_choice_names_those_there_are():
    with pytest.raises(ParameterError, match=r"mode is rows; .* leave-slice-out or given"):
        MODE.read("rows")


@pytest.mark.parametrize("raw", ["2024-06-01", date(2024, 6, 1), datetime(2024, 6, 1, 9)])
def test_a_day_is_the_moment_at_which_it_begins(raw):
    assert DAY.read(raw) == datetime(2024, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize("raw", ["yesterday", "2024-02-30", "", None, 20240601])
def test_what_is_no_day_is_refused(raw):
    with pytest.raises(ParameterError, match="a day such as"):
        DAY.read(raw)


def test_a_refusal_is_short_however_long_the_value_is():
    with pytest.raises(ParameterError) as raised:
        DEPTH.read("x" * 10_000)
    assert len(str(raised.value)) < 200


def test_values_are_checked_by_their_names_and_none_is_no_value():
    check([DEPTH, SHARE], SimpleNamespace(depth=None, double_share=1))
    with pytest.raises(ParameterError, match=r"double_share is 1\.5"):
        check([DEPTH, SHARE], SimpleNamespace(depth=1, double_share=1.5))


def test_options_are_called_as_parameters_unless_they_say_otherwise():
    assert SHARE.flag == "--double-share"
    assert Choice(name="x", option="y").flag == "--y"
