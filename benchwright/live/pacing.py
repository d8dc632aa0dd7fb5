"""How fast an endpoint is asked: so many requests a second, and longer pauses after failures."""

import random
import threading
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime

LONGEST_PAUSE = 30.0
LONGEST_WAIT = 120.0
"""A server that asks for a longer wait than these seconds is not waited for."""


class Stopped(Exception):
    """Nobody wants the answer any more."""


class Pace:
    """A token bucket of one token, shared by threads: requests start `1 / rate` seconds apart.

    `wait` sleeps so many seconds, and returns true where it was woken to stop.
    """

    def __init__(
        self,
        rate: float,
        *,
        wait: Callable[[float], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._interval = 1.0 / rate
        self._wait = wait
        self._clock = clock
        self._lock = threading.Lock()
        self._next = 0.0

    def turn(self) -> None:
        """Return when it is one's turn.

        Raises
        ------
        Stopped
            If there is no more turn.
        """
        while True:
            with self._lock:
                now = self._clock()
                seconds_left = self._next - now
                if seconds_left <= 0:
                    self._next = now + self._interval
                    return
            # Looked at again afterwards: meanwhile the server may have asked for a longer pause.
            self.sleep(seconds_left)

    def hold(self, seconds: float) -> None:
        """Let nobody have a turn for so long: a server that is asked too often said so."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)

    def sleep(self, seconds: float) -> None:
        """Sleep, whoever's turn it is; raises `Stopped` as `turn` does."""
        if self._wait(seconds):
            raise Stopped


def backoff(attempt: int, *, first: float) -> float:
    """Seconds to wait after the attempt of this number (from 1): doubled each time, and varied.

    Half of it is left to chance, so that requests that failed together do not come back together.
    """
    return float(min(first * 2.0 ** (attempt - 1), LONGEST_PAUSE) * random.uniform(0.5, 1.0))


def seconds_asked_for(retry_after: str, *, now: float) -> float | None:
    """What `Retry-After` says, in seconds or as a date (`now` is a time stamp); None for neither.

    Examples
    --------
    >>> seconds_asked_for("17", now=0.0), seconds_asked_for("soon", now=0.0)
    (17.0, None)
    >>> seconds_asked_for("Thu, 01 Jan 1970 00:00:30 GMT", now=10.0)
    20.0
    """
    value = retry_after.strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (TypeError, ValueError):
        return None
