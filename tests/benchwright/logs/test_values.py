"""Cells of a log: counts, days, months, clicks."""

from datetime import UTC, date, datetime

import pytest

from benchwright.logs.values import CellError, clicks_of, count_of, month_of, window_of


def days(window):
    return tuple(date.fromordinal(day).isoformat() for day in window)


@pytest.mark.parametrize(
    ("cell", "expected"), [("7", 7), (7, 7), ("1,234", 1234), ("12.0", 12), (3.0, 3), ("0", 0)]
)
def test_a_count_is_a_whole_number(cell, expected):
    assert count_of(cell) == expected


@pytest.mark.parametrize("cell", ["n/a", "-1", "1.5", "", None, True, "1,23", 1 << 60])
def test_what_is_no_count_is_told(cell):
    with pytest.raises(CellError, match="expected a whole number from 0 up"):
        count_of(cell)


@pytest.mark.parametrize(
    "cell",
    ["2024-05-31", "2024/05/31", "20240531", "2024-05-31 09:30:00", "2024-05-31T09:30:00Z",
     "1717147800", "1717147800000", date(2024, 5, 31), datetime(2024, 5, 31, 9, tzinfo=UTC)],
)  # fmt: skip
def test_a_day_is_read_however_it_is_written(cell):
    assert days(window_of(cell)) == ("2024-05-31", "2024-05-31")


def test_a_month_stands_for_all_its_days():
    assert days(window_of("2024-02")) == ("2024-02-01", "2024-02-29")
    assert days(month_of("2023", "12")) == ("2023-12-01", "2023-12-31")
    assert days(month_of(2023, "December")) == ("2023-12-01", "2023-12-31")
    assert days(month_of("", "2023-04")) == ("2023-04-01", "2023-04-30")


@pytest.mark.parametrize("cell", ["yesterday", "31.05.2024", "2024-13-01", "17"])
def test_what_is_no_day_is_told(cell):
    with pytest.raises(CellError, match="expected a day or time such as 2024-05-31"):
        window_of(cell)


def test_a_month_that_is_none_is_told():
    with pytest.raises(CellError, match="expected such as 2024 and 5"):
        month_of(2024, 13)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("d1|d2|d1", {"d1": 2, "d2": 1}),
        ("d1:3 d2", {"d1": 3, "d2": 1}),
        ("https://x.org/a", {"https://x.org/a": 1}),
        ('{"d1": 3, "d2": 0}', {"d1": 3}),
        ("[17, 18]", {"17": 1, "18": 1}),
        (["d1"], {"d1": 1}),
    ],
)
def test_clicks_are_counted_by_document(cell, expected):
    assert clicks_of(cell) == expected


@pytest.mark.parametrize(
    "cell", ['{"d1": ', pytest.param("[" * 100_000, id="deep"), '{"d1": -4}', [None]]
)
def test_clicks_that_are_none_are_told(cell):
    with pytest.raises(CellError, match="expected"):
        clicks_of(cell)
