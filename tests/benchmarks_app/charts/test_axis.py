"""One axis for the intervals of many rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks_app.charts.axis import Whisker, axis_of


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20))
def test_axis_holds_every_value_in_its_order_with_two_to_five_ticks(values):
    axis = axis_of(values)

    places = [axis.place(value) for value in values]
    assert all(0 <= place <= 100 for place in places)
    ordered = [place for _, place in sorted(zip(values, places, strict=True))]
    assert ordered == sorted(ordered)
    assert len(axis.ticks) <= 5
    for value, place in zip(values, places, strict=True):
        # The same from the place: rounded to a tenth of a percent.
        back = axis.low + place / 100 * (axis.high - axis.low)
        assert back == pytest.approx(value, abs=0.000501 * (axis.high - axis.low))


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.326, 0.778], [0.4, 0.5, 0.6, 0.7]),
        ([0.0, 1.0], [0.0, 0.4, 0.8]),
        ([0.5, 0.5], [0.46, 0.48, 0.5, 0.52, 0.54]),
        ([12, 900], [0.0, 200.0, 400.0, 600.0, 800.0]),
    ],
)
def test_ticks_are_round(values, ticks):
    assert axis_of(values).ticks == pytest.approx(ticks)


def test_no_value_has_no_axis():
    assert axis_of([]) is None
    assert axis_of([float("nan")]) is None


def test_a_whisker_has_its_ends_or_none():
    axis = axis_of([-1.0, 0.0, 1.0])

    assert axis.whisker(0.0, -1.0, 1.0) == Whisker(50.0, 3.7, 96.3)
    assert axis.whisker(0.0, None, 1.0) == Whisker(50.0, None, None)
    minus = "\N{MINUS SIGN}"
    assert axis.labels == [
        (3.7, f"{minus}1.0"), (26.9, f"{minus}.5"), (50.0, "0"), (73.1, ".5"), (96.3, "1.0"),
    ]  # fmt: skip
