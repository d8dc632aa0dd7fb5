"""The process that reads: `python -m benchwright.sandbox.child MODULE…`.

It loads the modules named, takes calls from its standard input and answers on what was its standard
output. It ends when its parent does.
"""

import contextlib
import errno
import os
import pickle
import resource
import select
import shutil
import struct
import sys
import threading
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn

from benchwright.errors import BenchmarkError
from benchwright.full_disk import is_disk_full
from benchwright.sandbox.answers import (
    BEGUN,
    BROKE,
    HEAD,
    ITEMS,
    PROGRESS,
    RAISED,
    RESULT,
    in_pieces,
    packed,
)
from benchwright.sandbox.calls import Limits, reader_at

ITEMS_AT_ONCE = 4096
BYTES_AT_ONCE = 1 << 20
UNLIMITED = resource.RLIM_INFINITY
FIRST_TO_BE_ENDED = "1000"  # where the machine runs out of memory


class Channel:
    """Where the answers go; each is refused that is larger than the call allows."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out = out
        self.most_bytes = Limits().answer_bytes

    def send(self, kind: int, body: bytes) -> None:
        if len(body) > self.most_bytes:
            raise AnswerTooLargeError(len(body))
        self.out.write(HEAD.pack(kind, len(body)))
        self.out.write(body)
        self.out.flush()


class AnswerTooLargeError(Exception):
    """One message has more bytes than the call allows."""


def main() -> None:
    """Answer calls until the parent closes the other end."""
    requests, channel = _channels()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):  # no such file where there is no Linux
        Path("/proc/self/oom_score_adj").write_text(FIRST_TO_BE_ENDED)
    threading.Thread(target=_end_with_parent, args=(requests.fileno(),), daemon=True).start()
    for name in sys.argv[1:]:
        import_module(name)
    with contextlib.suppress(BrokenPipeError):
        while head := requests.read(8):
            (length,) = struct.unpack("<Q", head)
            # What the parent sends is trusted: it is the site itself.
            request = pickle.loads(requests.read(length))
            channel.send(BEGUN, b"")
            _answer(channel, *request)
    _leave()


def _channels() -> tuple[IO[bytes], Channel]:
    """Calls and answers on descriptors of their own: what is printed goes to the errors."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, Channel(answers)


def _end_with_parent(descriptor: int) -> None:
    waiting = select.poll()
    waiting.register(descriptor, 0)  # hang-ups are always told
    while not any(event & select.POLLHUP for _, event in waiting.poll()):
        pass
    _leave()


def _leave() -> NoReturn:
    """End, and leave nothing behind: nobody is there any more to remove it."""
    shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
    os._exit(0)


def _answer(
    channel: Channel,
    module: str,
    name: str,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    limits: Limits,
    is_followed: bool,
) -> None:
    channel.most_bytes = limits.answer_bytes
    if is_followed:
        options = options | {"progress": lambda *counts: channel.send(PROGRESS, packed(counts))}
    try:
        with _limited(limits):
            result = reader_at(module, name)(*arguments, **options)
            if isinstance(result, Iterator):
                ended = _Ended(result)
                for body in in_pieces(iter(ended), ITEMS_AT_ONCE, BYTES_AT_ONCE):
                    channel.send(ITEMS, body)
                result = ended.result
            channel.send(RESULT, packed(result))
    except BenchmarkError as error:
        if _is_of_memory(error):  # what a library made of it is no fault of the file's bytes
            _tell_broken(channel, MemoryError())
        elif _is_of_disk(error):
            _tell_broken(channel, error)
        else:
            channel.send(RAISED, packed(error))
    except BrokenPipeError:
        _leave()
    except BaseException as error:  # noqa: BLE001 - a reader may panic; the file is what is wrong
        _tell_broken(channel, error)


class _Ended:
    """What an iterator yields; and after its end the result, if it is a generator with one."""

    def __init__(self, items: Iterator[Any]) -> None:
        self.items = items
        self.result: Any = None

    def __iter__(self) -> Iterator[Any]:
        while True:
            try:
                item = next(self.items)
            except StopIteration as ended:
                self.result = ended.value
                return
            yield item


def _tell_broken(channel: Channel, error: BaseException) -> None:
    if isinstance(error, AnswerTooLargeError):
        kind = "answer"
    elif _is_of_memory(error):
        kind = "memory"
    else:
        kind = "disk" if _is_of_disk(error) else type(error).__name__
    trace = "".join(traceback.format_exception(error, limit=-8, chain=False))
    channel.send(BROKE, packed((kind, trace[-4000:])))


def _is_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or what it came of, is that there was no more memory."""
    while error is not None:
        if isinstance(error, MemoryError) or "allocate memory" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_of_disk(error: BaseException) -> bool:
    """Whether the disk is full; a file larger than the limits allow is the file's own fault."""
    return is_disk_full(error, besides=(errno.EFBIG,))


@contextlib.contextmanager
def _limited(limits: Limits) -> Iterator[None]:
    """Soft limits, so that the next call can have others."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu_seconds = int(used.ru_utime + used.ru_stime) + limits.cpu_seconds + 1
    bounds = {
        resource.RLIMIT_DATA: _data_bytes() + limits.memory_bytes,
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
    }
    before = {name: resource.getrlimit(name) for name in bounds}
    for name, bound in bounds.items():
        hard = before[name][1]
        resource.setrlimit(name, (bound if hard == UNLIMITED else min(bound, hard), hard))
    try:
        yield
    finally:
        for name, pair in before.items():
            resource.setrlimit(name, pair)


def _data_bytes() -> int:
    """What counts against RLIMIT_DATA: memory of its own that it may write to."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[5])
    except OSError:
        return 0
    return pages * resource.getpagesize()


if __name__ == "__main__":
    main()
