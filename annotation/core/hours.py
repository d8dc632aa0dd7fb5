"""How long somebody worked, from when they judged."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

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
