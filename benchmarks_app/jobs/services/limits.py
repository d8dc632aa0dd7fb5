"""How long a job may run and how much it may take, and what ends one in the middle of its work.

A job is watched by a thread that says it is alive. Where its turn is over (cancelled, taken over)
or a limit is passed, the thread interrupts the work with a signal, and where that does not help,
as in the middle of a library's own code, ends the worker's process: its parent starts another.
"""

import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from django.conf import settings
from django.db import OperationalError, connections

log = logging.getLogger(__name__)

SIGNAL = signal.SIGUSR2
# Tells a process of a worker that it is to end, for who is at no job it means nothing.
GIVE_BACK = signal.SIGURG
STATM = Path("/proc/self/statm")
TOO_LONG = (
    "Stopped after {took}: a job of this kind may run for {limit}. Try again when the site is less "
    "busy or with a smaller file, or ask whoever runs this site to raise JOB_TIME_LIMITS ({kind})."
)
TOO_LARGE = (
    "Stopped when it took {took} MB of memory: a job of this kind may take {limit} MB. Try again "
    "with a smaller file, or ask whoever runs this site to raise JOB_MEMORY_LIMITS ({kind})."
)


class JobStopped(BaseException):
    """Ends a handler from outside; no handler takes it for an error of its own."""


@dataclass(frozen=True)
class Limits:
    """What a kind of job may take; 0 is no limit."""

    kind: str
    seconds: int
    megabytes: int

    @classmethod
    def of(cls, kind: str) -> "Limits":
        return cls(kind, _of(kind, settings.JOB_TIME_LIMITS), _of(kind, settings.JOB_MEMORY_LIMITS))

    def passed(self, *, seconds: float, megabytes: float) -> str:
        """What to tell of a job that took so much, "" while it may go on."""
        if self.seconds and seconds > self.seconds:
            return self.too_long(seconds)
        if self.megabytes and megabytes > self.megabytes:
            return TOO_LARGE.format(
                took=f"{megabytes:,.0f}", limit=f"{self.megabytes:,}", kind=self.kind
            )
        return ""

    def too_long(self, seconds: float) -> str:
        return TOO_LONG.format(took=_said(seconds), limit=_said(self.seconds), kind=self.kind)


def _of(kind: str, limits: dict[str, int]) -> int:
    return limits.get(kind, limits.get("*", 0))


def _said(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def megabytes_used() -> float:
    """Memory of this process; 0 where the system does not tell."""
    try:
        pages = int(STATM.read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


# --- ending the work -----------------------------------------------------------------------


@dataclass
class Stopper:
    """Interrupts the thread that works, unless it writes just now: then right after that.

    Only a process's main thread can be interrupted; elsewhere the next write is refused.
    """

    reason: str = ""
    is_due: bool = False
    is_open: bool = False
    has_raised: bool = False
    # The worker ends in order: the job is for another.
    gives_back: bool = False
    # The job is done: what follows from it is no part of it, and nothing is to be stopped.
    is_over: bool = False
    n_writing: int = 0
    _thread: int = field(default_factory=threading.get_ident)

    def stop(self, reason: str) -> None:
        """Called from the watching thread; `reason` is "" where another attempt has the turn."""
        self.reason, self.is_due = reason, True
        self._interrupt()

    def insist(self) -> None:
        """As `stop`, again: an exception is lost where it meets a finaliser or a callback."""
        self.has_raised = False
        self._interrupt()

    def _interrupt(self) -> None:
        if self.is_open and self._thread == threading.main_thread().ident:
            signal.pthread_kill(self._thread, SIGNAL)

    def close(self) -> None:
        """Called just before the job is done."""
        self.is_open, self.is_over = False, True

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self.is_open and not self.n_writing:
            self.raise_if_due()

    def _asked_for(self, number: int, frame: FrameType | None) -> None:
        if self.is_open and not self.is_due:
            self.gives_back = self.is_due = True
            self._interrupted(number, frame)

    def raise_if_due(self) -> None:
        if self.is_due and self.is_open and not self.has_raised:
            self.has_raised = True
            raise JobStopped

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """While this lasts, the work can be interrupted."""
        is_main = threading.current_thread() is threading.main_thread()
        handlers = {SIGNAL: self._interrupted, GIVE_BACK: self._asked_for}
        before = {number: signal.signal(number, handlers[number]) for number in handlers if is_main}
        self.is_open = True
        try:
            self.raise_if_due()
            yield
        finally:
            self.is_open = False
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """While this lasts it cannot: what was begun is written, or taken back, as a whole."""
        self.n_writing += 1
        try:
            yield
        finally:
            self.n_writing -= 1
        if not self.n_writing:
            self.raise_if_due()


# --- watching ------------------------------------------------------------------------------


@contextlib.contextmanager
def watched(
    *,
    name: str,
    stopper: Stopper,
    limits: Limits,
    beat: Callable[[], bool],
    fail: Callable[[str], None],
    may_end_process: bool,
) -> Iterator[None]:
    """A thread that beats every few seconds, and ends the work when it has to end."""
    over = threading.Event()
    watch = _Watch(stopper, limits, beat, fail, over, may_end_process)
    thread = threading.Thread(target=watch.run, daemon=True, name=f"watch-{name}")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@dataclass
class _Watch:
    stopper: Stopper
    limits: Limits
    beat: Callable[[], bool]
    fail: Callable[[str], None]
    over: threading.Event
    may_end_process: bool
    _began: float = field(default_factory=time.monotonic)
    _megabytes: float = field(default_factory=megabytes_used)

    def run(self) -> None:
        try:
            while not self.over.wait(settings.JOB_HEARTBEAT_SECONDS):
                is_mine, reason = self._is_mine(), self._passed()
                if self.stopper.is_over:
                    return
                if not is_mine or reason:
                    self._end(reason if is_mine else "")
                    return
        finally:
            connections.close_all()  # its own, if it has asked anything

    def _is_mine(self) -> bool:
        try:
            return self.beat()
        except OperationalError:
            log.warning("job %s: heartbeat missed", self.limits.kind)
            return True

    def _passed(self) -> str:
        return self.limits.passed(
            seconds=time.monotonic() - self._began,
            megabytes=megabytes_used() - self._megabytes,
        )

    def _end(self, reason: str) -> None:
        self.stopper.stop(reason)
        if self.over.wait(settings.JOB_GRACE_SECONDS / 2):
            return
        self.stopper.insist()
        if self.over.wait(settings.JOB_GRACE_SECONDS / 2):
            return
        if reason:
            self.fail(reason)
        if self.may_end_process:
            log.error("a job of kind %s does not stop; ending its process", self.limits.kind)
            os._exit(1)
