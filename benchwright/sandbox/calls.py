"""A call of a reader: which functions may be called, what one call may take, how it may end badly.

BenchmarkError
├── UnreadableFileError    the reader broke on it
│   ├── FileTooCostlyError it took more than it may
│   └── ReaderEndedError   its process was ended, or never began
└── ReadersBusyError       no reader was free in time
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from benchwright.errors import BenchmarkError

READERS = "__readers__"
Function = TypeVar("Function", bound=Callable[..., Any])


def reader(function: Function) -> Function:
    """Mark a function of a module as one that may be run apart.

    Its arguments are plain data, and its answer is what `answers.Answers` lets through. A
    generator is read by `Pool.stream`, any other function by `Pool.call`.
    """
    vars(import_module(function.__module__)).setdefault(READERS, set()).add(function.__name__)
    return function


def address_of(function: Callable[..., Any]) -> tuple[str, str]:
    """Module and name of a reader; raises LookupError for any other function."""
    module, name = function.__module__, function.__qualname__
    if name not in vars(import_module(module)).get(READERS, ()):
        msg = f"{module}.{name} is not marked as a reader"
        raise LookupError(msg)
    return module, name


def reader_at(module: str, name: str) -> Callable[..., Any]:
    """The reader at an address; raises LookupError where there is none."""
    names = vars(import_module(module))
    if name not in names.get(READERS, ()):
        msg = f"{module}.{name} is not marked as a reader"
        raise LookupError(msg)
    function: Callable[..., Any] = names[name]
    return function


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one call. They hold on Linux; elsewhere those of memory may not.

    `memory_bytes` count beyond what a child has before it reads; a file that is mapped and only
    read does not count. `silent_seconds` pass while nothing comes from the child and somebody
    waits for it. `file_bytes` bound each file it writes, `answer_bytes` each message it sends.
    `seconds_setting` is what a site calls its bounds of time.
    """

    memory_bytes: int = 2 << 30
    cpu_seconds: int = 60
    silent_seconds: float = 60.0
    open_files: int = 256
    file_bytes: int = 64 << 30
    answer_bytes: int = 64 << 20
    seconds_setting: str = "READ_SECONDS"


class UnreadableFileError(BenchmarkError, code="file-unreadable"):
    """`reason` says how the reading ended."""

    message = (
        "{file}: reading it {reason}; expected a file that can be read to its end. It is probably "
        "damaged: write it again and upload that, and remove this one."
    )


class FileTooCostlyError(UnreadableFileError, code="file-too-costly"):
    """`limit` is which one, `reason` says it in words, `advice` what on this site sets it."""

    message = (
        "{file}: reading it {reason}. Upload it in smaller pieces (shorter cells and lines, "
        "smaller row groups) and remove this one{advice}."
    )


class ReaderEndedError(UnreadableFileError, code="file-reader-ended"):
    """What ended it need not have to do with the file."""

    message = (
        "{file}: reading it {reason}. That need not be a fault of the file: look again in some "
        "minutes. If it ends so again, write the file again, upload that, and remove this one."
    )


class ReadersBusyError(BenchmarkError, code="readers-busy", status=503):
    """`seconds` is how long somebody waited."""

    heading = "Other files are being read"
    message = (
        "{file}: not read yet: other files have kept every reader busy for {seconds:.0f} seconds. "
        "Try again in a minute."
    )
