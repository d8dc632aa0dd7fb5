"""How long a label takes a person, whatever the length of the documents they happened to get."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import ceil
from statistics import median

# --- How long a label takes a person, whatever the length of the documents they happened to get.

# Fewer times say little about a person.
ENOUGH_TIMES = 5
# Three thirds of three: the least from which a slope is worth reading.
ENOUGH_FOR_SLOPE = 9


@dataclass(frozen=True, slots=True)
class Timed:
    """One label: its seconds, and how many characters were on the screen (None: not known)."""

    seconds: float
    chars: int | None


def typical_seconds(times: Sequence[Timed], *, at_chars: float | None = None) -> float | None:
    """The median seconds of a label, as if every document had `at_chars` characters.

    Without `at_chars`, or with lengths that do not differ, the plain median; None below
    `ENOUGH_TIMES` times.

    Notes
    -----
    The line through times against lengths is Tukey's resistant line (Exploratory Data Analysis,
    1977): its slope is that between the medians of the shortest and the longest third, so a pause
    for coffee does not move it. A slope below 0 is taken for 0 (a longer document is not read
    faster; other things were at work), and lengths outside those seen are not extrapolated to.

    Examples
    --------
    >>> read = [Timed(seconds=5 + chars / 100, chars=chars) for chars in range(100, 1000, 100)]
    >>> typical_seconds(read), typical_seconds(read, at_chars=200)
    (10.0, 7.0)
    """
    if len(times) < ENOUGH_TIMES:
        return None
    plain = median(time.seconds for time in times)
    points = sorted((time.chars, time.seconds) for time in times if time.chars is not None)
    if at_chars is None or len(points) < ENOUGH_FOR_SLOPE:
        return plain
    slope = _slope(points)
    chars_wanted = min(max(at_chars, points[0][0]), points[-1][0])
    return max(median(seconds + slope * (chars_wanted - chars) for chars, seconds in points), 0.0)


def in_seconds(seconds: float) -> str:
    """Seconds as people read them: a tenth counts below ten, and nothing that took time is 0.

    >>> [in_seconds(seconds) for seconds in (0.004, 0.15, 4.26, 19.4)]
    ['under 0.1', '0.1', '4.3', '19']
    """
    if 0 < seconds < 0.1:
        return "under 0.1"
    return f"{seconds:.1f}" if seconds < 9.95 else f"{seconds:.0f}"


def typical_chars(times: Sequence[Timed]) -> float | None:
    """The median length of what was shown; None where none is known."""
    known_chars = [time.chars for time in times if time.chars is not None]
    return median(known_chars) if known_chars else None


def _slope(points: Sequence[tuple[int, float]]) -> float:
    """Seconds a character: between the medians of the outer thirds, at least 0."""
    third = len(points) // 3
    short, long = points[:third], points[-third:]
    run = median(chars for chars, _ in long) - median(chars for chars, _ in short)
    rise = median(seconds for _, seconds in long) - median(seconds for _, seconds in short)
    return max(rise / run, 0.0) if run else 0.0


# --- How long somebody worked, from when they judged.

# A longer gap between two judgments is a break, not work.
LONGEST_GAP = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Act:
    """A judgment: when it came, and how long its document was before its assessor, if known."""

    at: datetime
    dwell: timedelta | None = None


def active_times(acts: Iterable[Act]) -> Iterator[timedelta]:
    """How much work each act of one person stands for, given in order of time.

    It is the gap since the act before; after a break, and at first, the time its document was
    looked at, no more than the longest gap.

    >>> nine = datetime(2026, 1, 2, 9)
    >>> later = nine + timedelta(seconds=40)
    >>> acts = [Act(nine, timedelta(seconds=20)), Act(later), Act(later + timedelta(hours=1))]
    >>> [int(time.total_seconds()) for time in active_times(acts)]
    [20, 40, 0]
    """
    before: datetime | None = None
    for act in acts:
        gap = None if before is None else act.at - before
        before = act.at
        if gap is not None and gap <= LONGEST_GAP:
            yield gap
        else:
            yield min(act.dwell or timedelta(), LONGEST_GAP)


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
