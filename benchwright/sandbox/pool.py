"""Children that wait for files: one is warm before it is needed, and one that died is replaced."""

import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

from benchwright.sandbox.calls import Limits, ReaderEndedError, ReadersBusyError, address_of
from benchwright.sandbox.process import Child, NotBegunError

DEFAULT_LIMITS = Limits()


class Pool:
    """The children of one process; they are started when the first file comes.

    `n_children` are kept, and as many calls are answered at a time: others wait, `wait_seconds` at
    most. A stream does not wait: whoever reads one may have to read another one beside it. `loads`
    are modules that a child imports before the first file comes; below `folder` children have
    their temporary files.
    """

    def __init__(
        self,
        n_children: int = 2,
        *,
        wait_seconds: float = 30.0,
        loads: Sequence[str] = (),
        folder: Path | None = None,
    ) -> None:
        self.n_children = n_children
        self.wait_seconds = wait_seconds
        self.loads = tuple(loads)
        self.folder = folder
        self._idle: list[Child] = []
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(n_children)
        self._of_process = os.getpid()
        atexit.register(self.close)

    def call(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        file: str,
        limits: Limits = DEFAULT_LIMITS,
        progress: Callable[..., None] | None = None,
        **options: Any,
    ) -> Any:
        """Return what a reader returns. `file` is what messages call the file.

        With `progress` the reader gets a function of that name: what it is called with is told
        here.

        Raises
        ------
        BenchmarkError
            As the reader raised it.
        UnreadableFileError
            If the reader broke on the file.
        ReaderEndedError
            If its process was ended, or could not begin.
        FileTooCostlyError
            If it passed one of `limits`.
        ReadersBusyError
            If no child was free in time.
        OSError
            If the reader met a full disk.
        """
        self._renew_after_fork()
        if not self._places.acquire(timeout=self.wait_seconds):
            raise ReadersBusyError(file=file, seconds=self.wait_seconds)
        try:
            return _result(
                self.stream(
                    function, *arguments, file=file, limits=limits, progress=progress, **options
                )
            )
        finally:
            self._places.release()

    def stream(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        file: str,
        limits: Limits = DEFAULT_LIMITS,
        progress: Callable[..., None] | None = None,
        **options: Any,
    ) -> Generator[Any, None, Any]:
        """Yield what a reader yields, as it is asked for; raises as `call`, but never waits.

        The child is ended where the generator is closed before its end.
        """
        call = (address_of(function), arguments, options)
        child = self._taken()
        try:
            try:
                child.ask(*call, limits=limits, file=file, is_followed=progress is not None)
            except NotBegunError:  # it was ending while it waited
                child.end()
                child = Child(self.loads, self.folder)
                self._ask_anew(child, call, limits, file, is_followed=progress is not None)
            return (yield from child.answers(limits=limits, file=file, progress=progress))
        finally:
            self._put_back(child)

    def close(self) -> None:
        """End every child that waits."""
        self._renew_after_fork()
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.end()

    def _ask_anew(
        self,
        child: Child,
        call: tuple[tuple[str, str], tuple[Any, ...], dict[str, Any]],
        limits: Limits,
        file: str,
        *,
        is_followed: bool,
    ) -> None:
        """Ask a child that was just started: the end of this one is told."""
        try:
            child.ask(*call, limits=limits, file=file, is_followed=is_followed)
        except NotBegunError as error:
            raise ReaderEndedError(file=file, reason=str(error)) from None

    def _taken(self) -> Child:
        self._renew_after_fork()
        while True:
            with self._lock:
                child = self._idle.pop() if self._idle else None
            if child is None:
                return Child(self.loads, self.folder)
            if child.is_fit:
                return child
            child.end()

    def _put_back(self, child: Child) -> None:
        if child.is_fit:
            with self._lock:
                if len(self._idle) < self.n_children:
                    self._idle.append(child)
                    return
        child.end()

    def _renew_after_fork(self) -> None:
        """Children are of the process that started them: a fork of it begins anew."""
        if self._of_process == os.getpid():
            return
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(self.n_children)
        idle, self._idle = self._idle, []
        self._of_process = os.getpid()
        for child in idle:
            with contextlib.suppress(OSError):
                child.forget()


def _result(items: Generator[Any, None, Any]) -> Any:
    """What a generator returns; its items, of which a reader that returns has none, are dropped."""
    while True:
        try:
            next(items)
        except StopIteration as ended:
            return ended.value
