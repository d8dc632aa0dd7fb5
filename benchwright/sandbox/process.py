"""A child from its parent's side: what it is asked, what it answers, and how it ended."""

import contextlib
import errno
import os
import pickle
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import IO, Any, cast

from benchwright.sandbox.answers import (
    BEGUN,
    HEAD,
    ITEMS,
    PROGRESS,
    PROTOCOL,
    RAISED,
    RESULT,
    items_in,
    unpacked,
)
from benchwright.sandbox.calls import (
    FileTooCostlyError,
    Limits,
    ReaderEndedError,
    UnreadableFileError,
)

ROOT = Path(__file__).resolve().parents[2]
# Of the parent's environment a child gets what programs need to run, and no secret.
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
OWN = {
    "PYTHONUTF8": "1",
    "PYTHONSAFEPATH": "1",
    "POLARS_MAX_THREADS": "2",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
MODULE = "benchwright.sandbox.child"
PIECE = 1 << 20
SAID_BYTES = 4_000
# A child that holds more than this after a file is replaced, and so is one that has read many.
KEPT_BYTES = 400 << 20
MOST_CALLS = 500
MOST_ASKED_BYTES = 64 << 20
ASKED_TO_END = (-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP)


class Child:
    """One child process, which reads one file at a time.

    Its own temporary files are in a folder of its own below `folder`, or where the system's are.
    """

    def __init__(self, loads: Sequence[str] = (), folder: Path | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="benchwright-apart-", dir=folder))
        self.n_calls = 0
        self.is_at_work = False
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        with contextlib.ExitStack() as undone:
            undone.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self.errors: IO[bytes] = undone.enter_context(tempfile.TemporaryFile(dir=self.folder))
            self.process = subprocess.Popen(
                [sys.executable, "-m", MODULE, *loads],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                env={**passed, **OWN, "PYTHONPATH": str(ROOT), "TMPDIR": str(self.folder)},
                cwd=self.folder,
                bufsize=0,
                start_new_session=True,
            )
            undone.pop_all()  # what is kept goes with the child
        # Both were asked for as pipes.
        self._in, self._out = (
            cast("IO[bytes]", self.process.stdin),
            cast("IO[bytes]", self.process.stdout),
        )
        with contextlib.suppress(OSError, AttributeError):
            _widen(self._out.fileno())
        self.poll = select.poll()
        self.poll.register(self._out.fileno(), select.POLLIN)

    @property
    def is_fit(self) -> bool:
        """Whether it can take another file."""
        return (
            not self.is_at_work
            and self.process.poll() is None
            and self.n_calls < MOST_CALLS
            and _resident_bytes(self.process.pid) < KEPT_BYTES
            and self.folder.is_dir()  # who clears up old temporary files takes it away
        )

    def ask(
        self,
        address: tuple[str, str],
        arguments: tuple[Any, ...],
        options: dict[str, Any],
        *,
        limits: Limits,
        file: str,
        is_followed: bool,
    ) -> None:
        """Send a call, and wait until it is begun.

        Raises
        ------
        NotBegunError
            If the child ended before: its end has nothing to do with the file.
        FileTooCostlyError
            If it said nothing in time.
        """
        self.is_at_work = True
        self.n_calls += 1
        request = (*address, arguments, options, limits, is_followed)
        try:
            self._ask(pickle.dumps(request, PROTOCOL))
            kind, _ = self._message(limits)
        except _EndedError as error:
            how = self._how_it_ended(error, limits, file)
            raise (how if error.limit else NotBegunError(how.reason)) from None
        if kind != BEGUN:
            raise UnreadableFileError(file=file, reason="gave no data")

    def answers(
        self, *, limits: Limits, file: str, progress: Callable[..., None] | None
    ) -> Generator[Any, None, Any]:
        """Yield the items of the reader that was asked; its result is the generator's.

        Raises
        ------
        BenchmarkError
            As the reader raised it.
        UnreadableFileError, FileTooCostlyError
            If the reader broke, or the child ended.
        OSError
            If the disk is full.
        """
        try:
            while True:
                kind, body = self._message(limits)
                if kind == ITEMS:
                    yield from items_in(body)
                elif kind == PROGRESS and progress is not None:
                    progress(*unpacked(body))
                else:
                    break
            value = unpacked(body)
        except _EndedError as error:
            raise self._how_it_ended(error, limits, file) from None
        except pickle.UnpicklingError as error:
            raise UnreadableFileError(file=file, reason=f"gave no data ({error})") from error
        self.is_at_work = False
        self.errors.seek(0)
        self.errors.truncate()
        if kind == RESULT:
            return value
        if kind == RAISED:
            raise value
        raise _broken(value, limits, file)

    def end(self) -> None:
        """End the process at once, and remove what it left."""
        self.process.kill()
        self.process.wait()
        for stream in (self._in, self._out, self.errors):
            with contextlib.suppress(OSError):
                stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def forget(self) -> None:
        """Let go of a child of the process that this one was forked from."""
        for stream in (self._in, self._out, self.errors):
            with contextlib.suppress(OSError):
                stream.close()

    def _ask(self, body: bytes) -> None:
        if len(body) > MOST_ASKED_BYTES:
            msg = f"a call of {len(body):,} bytes: hand a reader the path of a large file"
            raise ValueError(msg)
        content = memoryview(struct.pack("<Q", len(body)) + body)
        try:
            while content:
                content = content[os.write(self._in.fileno(), content) :]
        except BrokenPipeError as error:
            raise _EndedError from error

    def _message(self, limits: Limits) -> tuple[int, bytearray]:
        kind, length = HEAD.unpack(self._bytes(HEAD.size, limits))
        # What it says of its own end is short, and comes whatever the limit.
        if length > max(limits.answer_bytes, PIECE):
            raise _EndedError(limit="answer")
        return kind, self._bytes(length, limits)

    def _bytes(self, n: int, limits: Limits) -> bytearray:
        content = bytearray(n)
        view, n_read = memoryview(content), 0
        until = time.monotonic() + limits.silent_seconds
        while n_read < n:
            seconds_left = until - time.monotonic()
            if seconds_left <= 0 or not self.poll.poll(seconds_left * 1000):
                raise _EndedError(limit="silence")
            n_now = os.readv(self._out.fileno(), [view[n_read : n_read + PIECE]])
            if not n_now:
                raise _EndedError
            n_read += n_now
            until = time.monotonic() + limits.silent_seconds
        return content

    def _how_it_ended(self, error: "_EndedError", limits: Limits, file: str) -> UnreadableFileError:
        """What became of a child that answers no more, in words about its file."""
        if error.limit:
            return _costly(error.limit, limits, file)
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            return _costly("silence", limits, file)
        last_words = self._last_said()
        if code == -signal.SIGXCPU:
            return _costly("cpu", limits, file)
        if code == -signal.SIGABRT and "memory allocation" in last_words:
            return _costly("memory", limits, file)
        if code == -signal.SIGKILL:
            reason = "was ended from outside (signal 9), as by want of memory"
            return ReaderEndedError(file=file, reason=reason)
        if code in ASKED_TO_END:
            return ReaderEndedError(file=file, reason=f"was ended from outside (signal {-code})")
        how = f"signal {-code}" if code < 0 else f"code {code}"
        detail = f": {last_words.splitlines()[-1][:200]}" if last_words.strip() else ""
        return UnreadableFileError(file=file, reason=f"ended the reader ({how}{detail})")

    def _last_said(self) -> str:
        size = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, size - SAID_BYTES))
        return self.errors.read().decode(errors="replace")


class NotBegunError(Exception):
    """The child ended before it began a call; the reason tells how."""


class _EndedError(Exception):
    """Nothing more comes from the child; `limit` is the one that it broke, if one is known."""

    def __init__(self, limit: str = "") -> None:
        super().__init__(limit)
        self.limit = limit


def _broken(words: tuple[str, str], limits: Limits, file: str) -> Exception:
    kind, trace = words
    if kind in _LIMITS:
        return _costly(kind, limits, file)
    error: Exception = UnreadableFileError(file=file, reason=f"broke the reader ({kind})")
    if kind == "disk":  # a fault of the site, and none of the file
        error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    error.add_note(trace)
    return error


_LIMITS = {
    "memory": "took more than {memory} MB of memory",
    "cpu": "took more than {cpu} seconds of processor time",
    "silence": "gave no answer within {silence:.0f} seconds",
    "answer": "gave an answer of more than {answer} MB at once",
}


def _costly(kind: str, limits: Limits, file: str) -> FileTooCostlyError:
    facts = {
        "memory": limits.memory_bytes >> 20,
        "cpu": limits.cpu_seconds,
        "silence": limits.silent_seconds,
        "answer": limits.answer_bytes >> 20,
    }
    settings = {"memory": "READ_MEMORY_MB", "answer": ""}
    setting = settings.get(kind, limits.seconds_setting)
    advice = f", or have the operator raise {setting}" if setting else ""
    reason = _LIMITS[kind].format(**facts)
    return FileTooCostlyError(file=file, reason=reason, limit=kind, advice=advice)


def _widen(descriptor: int) -> None:
    """Let the pipe hold more, so that a child need not wait for every piece to be taken."""
    import fcntl

    fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIECE)


def _resident_bytes(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGESIZE")
