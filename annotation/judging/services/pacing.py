"""How far a pool and a person are: counted now and then, not at every judgment."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.conf import settings

from annotation.common.services import statements
from annotation.models import Pool
from benchwright.progress.pace import Timed, typical_seconds

# One's newest labels tell one's pace.
TIMES_READ = 200
LENGTHS_READ = 200
MOST_KEPT = 10_000
# One's own pace changes slowly.
PACE_LASTS = 6


@dataclass(slots=True)
class Counts:
    """Labels a pool has, of those it wants; and how many people are at it."""

    n_done: int
    n_wanted: int
    n_active: int
    next_chars: float | None

    @property
    def n_left(self) -> int:
        return max(self.n_wanted - self.n_done, 0)


@dataclass(slots=True)
class Own:
    """A person's labels in a pool, and the seconds one takes them.

    `n_uncounted` of their documents are there for them alone (checks, repeats, changed texts): the
    pool does not count these, but a count that stands still would tell which they are.
    """

    n: int
    n_uncounted: int
    median_seconds: float | None
    next_seconds: float | None


class Kept:
    """Values that are made anew when they are older than a while."""

    def __init__(self) -> None:
        self._values: dict[Any, tuple[float, Any]] = {}

    def get(self, key: Any, seconds: float, make: Callable[[], Any]) -> tuple[Any, bool]:
        """The value, and whether it was made just now."""
        now = time.monotonic()
        until, value = self._values.get(key, (0.0, None))
        if now < until:
            return value, False
        value = make()
        if len(self._values) > MOST_KEPT:
            self._values.clear()
        self._values[key] = (now + seconds, value)
        return value, True


_kept = Kept()


@dataclass(frozen=True, slots=True)
class Saved:
    """Labels that were saved just now, which an older count follows; taken back: below 0."""

    n_wanted: int = 0
    n_uncounted: int = 0
    n_extra: int = 0

    @property
    def n(self) -> int:
        return self.n_wanted + self.n_uncounted + self.n_extra


NOTHING_SAVED = Saved()


def counts_of(pool: Pool, saved: Saved = NOTHING_SAVED) -> Counts:
    """The pool's counts, `JUDGE_COUNTS_SECONDS` old at most, and what was saved since."""

    def count() -> Counts:
        lengths = statements.next_lengths(pool.pk, n=LENGTHS_READ)
        return Counts(
            n_done=statements.n_labels(pool.pk),
            n_wanted=pool.n_wanted,
            n_active=statements.n_active(pool.pk, now=statements.clock()),
            next_chars=median(lengths) if lengths else None,
        )

    counts, is_new = _kept.get(pool.pk, settings.JUDGE_COUNTS_SECONDS, count)
    if not is_new:
        counts.n_done += saved.n_wanted
    return counts


def n_done_now(pool: Pool, me: int) -> int:
    """Labels of the pool as `progress` tells them to a person, counted anew."""
    return statements.n_labels(pool.pk) + statements.n_own_uncounted(pool.pk, me)


def progress(pool: Pool, me: int, saved: Saved = NOTHING_SAVED) -> dict[str, Any]:
    """How far pool and person are, as JSON; every label of theirs is a step."""
    counts = counts_of(pool, saved)
    seconds = settings.JUDGE_COUNTS_SECONDS * PACE_LASTS
    own, is_new = _kept.get((pool.pk, me), seconds, lambda: _own(pool, me, counts))
    if not is_new:
        own.n += saved.n
        own.n_uncounted += saved.n_uncounted
    seconds_left = None
    if own.next_seconds is not None:
        seconds_left = counts.n_left * own.next_seconds / max(counts.n_active, 1)
    return {
        "pool": {"done": counts.n_done + own.n_uncounted, "total": counts.n_wanted},
        "mine": {"n": own.n, "median_seconds": own.median_seconds, "seconds_left": seconds_left},
    }


def _own(pool: Pool, me: int, counts: Counts) -> Own:
    dwells = statements.own_times(pool.pk, me, n=TIMES_READ)
    times = [Timed(dwell / 1000, chars) for dwell, chars in dwells]
    return Own(
        n=statements.n_own_labels(pool.pk, me),
        n_uncounted=statements.n_own_uncounted(pool.pk, me),
        median_seconds=typical_seconds(times),
        next_seconds=typical_seconds(times, at_chars=counts.next_chars),
    )
