"""When a pool will be done, if people go on as they did lately."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil

# Two weeks hold two of each weekday; a plan longer than this is none.
LAST_DAYS = 14
LONGEST_DAYS = 3650


@dataclass(frozen=True, slots=True)
class Projection:
    """Labels a calendar day of late, and the day on which the last wanted one would come."""

    per_day: float
    done_on: date


def projection(labels: Mapping[date, int], *, n_left: int, today: date) -> Projection | None:
    """Go on as in the last `LAST_DAYS` calendar days, or since the first label if that is later.

    None where nothing is left, nobody judged in these days, or the end is ten years off.

    Examples
    --------
    >>> week = {date(2026, 3, day): 10 for day in (2, 3, 4, 5, 6)}
    >>> projection(week, n_left=30, today=date(2026, 3, 6))
    Projection(per_day=10.0, done_on=datetime.date(2026, 3, 9))
    """
    first = max(min(labels, default=today), today - timedelta(days=LAST_DAYS - 1))
    n_days = (today - first).days + 1
    n_lately = sum(n for day, n in labels.items() if first <= day <= today)
    if n_left <= 0 or n_lately <= 0:
        return None
    per_day = n_lately / n_days
    days = ceil(n_left / per_day)
    return Projection(per_day, today + timedelta(days=days)) if days <= LONGEST_DAYS else None
