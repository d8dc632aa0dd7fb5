"""How the top of a board rose: which run was the best one when it came."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from scoring.scores.selectors.boards import BoardRow, Interval


@dataclass(frozen=True)
class Record:
    """A run that was better than every run before it."""

    at: datetime
    row: BoardRow
    value: float
    interval: Interval | None
    gain: float | None


def records_of(rows: Iterable[BoardRow], name: str) -> list[Record]:
    """The runs that stood above all earlier ones by a measure, the first of all included.

    What counts is the value as it is shown, and a board that is shown: nothing else is told here.
    """
    best: float | None = None
    records = []
    for row in sorted(rows, key=lambda row: (row.run.created_at, row.run.pk)):
        mean = row.scores.get(name)
        if row.rank is None or mean is None:
            continue
        value = round(mean, 4)
        if best is not None and value <= best:
            continue
        gain = None if best is None else value - best
        interval = row.intervals.get(name)
        records.append(Record(row.run.created_at, row, value, interval, gain))
        best = value
    return records
