"""What stands in a log's cells: counts, days and months, clicked documents.

Each function returns the value, or raises `CellError` with what was expected.
"""

import json
import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from benchwright.ids import storable

LARGEST_COUNT = 2**53
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Moments before 1990 are no moments of a search log; those of milliseconds have 13 digits.
FIRST_EPOCH, MILLISECONDS = 631_152_000, 10**11
CLICK_SEPARATORS = re.compile(r"[|;\s]+")
CLICKED = re.compile(r"(?P<docid>.+):(?P<n>\d{1,15})\Z")


class CellError(ValueError):
    """A cell that holds something else; its text says what, and what was expected."""


class Window(NamedTuple):
    """The first and last day a cell stands for, as ordinals: a month has many."""

    first: int
    last: int


def count_of(value: Any) -> int:
    """How often a query was asked in a row; 1,234 and 1234.0 are whole numbers too."""
    if isinstance(value, bool):
        number = None
    elif isinstance(value, int):
        number = value
    else:
        number = _whole(str(value).strip())
    if number is None or not 0 <= number <= LARGEST_COUNT:
        text = f"the count is {value!r:.40}; expected a whole number from 0 up"
        raise CellError(text)
    return number


def _whole(text: str) -> int | None:
    plain = text.removesuffix(".0")
    if plain.isascii() and plain.isdigit() and len(plain) < 17:
        return int(plain)
    if re.fullmatch(r"[0-9]{1,3}([, ][0-9]{3})+", text):
        return int(re.sub("[, ]", "", text))
    return None


def window_of(value: Any) -> Window:
    """The days of a date, a time, a month (2024-05) or seconds since 1970.

    >>> [date.fromordinal(day).isoformat() for day in window_of("2024-02")]
    ['2024-02-01', '2024-02-29']
    """
    if isinstance(value, datetime | date):
        return _day(value)
    text = str(value).strip()
    moment = _epoch(text)
    if moment is not None:
        return _day(moment)
    parts = re.fullmatch(r"(\d{4})[-/](\d{1,2})", text)
    if parts:
        return month_of(parts[1], parts[2])
    try:
        return _day(datetime.fromisoformat(text.replace("/", "-", 2)))
    except ValueError:
        expected = "expected a day or time such as 2024-05-31, 2024-05-31T09:30:00Z or 2024-05"
        why = f"the day is {text!r:.40}; {expected}"
        raise CellError(why) from None


def _epoch(text: str) -> datetime | None:
    """Seconds or milliseconds since 1970; 20240531 is neither but a day."""
    if not (text.isascii() and text.replace(".", "", 1).isdigit()) or len(text) < 9:
        return None
    seconds = float(text)
    if seconds > MILLISECONDS:
        seconds /= 1000
    if not FIRST_EPOCH <= seconds < MILLISECONDS:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def month_of(year: Any, month: Any) -> Window:
    """The days of a month, of a year and a month as numbers or as the month's name."""
    text = str(month).strip().casefold().removesuffix(".0")
    full = re.fullmatch(r"(\d{4})[-/]?(\d{2})", text)
    if full:
        year, text = full[1], full[2]
    number = MONTHS.index(text[:3]) + 1 if text[:3] in MONTHS else _whole(text)
    of = _whole(str(year).strip())
    if number is None or of is None or not (1 <= number <= 12 and 1 <= of <= 9999):
        text = f"year and month are {year!r:.20} and {month!r:.20}; expected such as 2024 and 5"
        raise CellError(text)
    first = date(of, number, 1).toordinal()
    return Window(first, first + monthrange(of, number)[1] - 1)


def _day(moment: datetime | date) -> Window:
    day = moment.toordinal()
    return Window(day, day)


def clicks_of(value: Any) -> dict[str, int]:
    """How often each document was clicked: JSON, or ids with `|`, `;` or blanks between, `id:3`.

    >>> clicks_of("d1:3|d2"), clicks_of('["d1", "d1"]'), clicks_of({"d2": 4})
    ({'d1': 3, 'd2': 1}, {'d1': 2}, {'d2': 4})
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            value = storable(json.loads(value))
        except (ValueError, RecursionError):
            why = f"the clicks are {value!r:.40}; expected JSON, or ids with | between"
            raise CellError(why) from None
    if isinstance(value, Mapping):
        return {_docid(docid): count_of(n) for docid, n in value.items() if n}
    parts = value if isinstance(value, list | tuple) else _listed(str(value))
    clicks: dict[str, int] = {}
    for docid, n in (_clicked(part) for part in parts):
        clicks[docid] = clicks.get(docid, 0) + n
    return clicks


def _listed(text: str) -> list[str]:
    return [part for part in CLICK_SEPARATORS.split(text) if part]


def _clicked(part: Any) -> tuple[str, int]:
    counted = CLICKED.match(part) if isinstance(part, str) else None
    return (_docid(counted["docid"]), int(counted["n"])) if counted else (_docid(part), 1)


def _docid(value: Any) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool):
        text = f"a clicked document is {value!r:.40}; expected its id"
        raise CellError(text)
    return str(value)[:512]
