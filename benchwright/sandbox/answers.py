"""Messages between a process and its child: a kind, a length, a body.

What the child sends is read by an unpickler that makes data of ours and of few other modules, and
calls nothing else.
"""

import io
import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import is_dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import PosixPath, PurePosixPath
from typing import Any

from benchwright.errors import BenchmarkError, error_again

HEAD = struct.Struct("<BQ")
PROTOCOL = 5
RESULT, RAISED, BROKE, ITEMS, PROGRESS, BEGUN = range(6)
OURS = ("benchwright.",)
# By the names that this Python has for them: 3.13 calls another module that of paths.
PLAIN = (
    *(set, frozenset, complex, bytearray, range, slice, Counter, OrderedDict, Decimal),
    *(date, datetime, time, timedelta, timezone, PosixPath, PurePosixPath),
)
OTHERS = {(kind.__module__, kind.__name__) for kind in PLAIN} | {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
}


class Answers(pickle.Unpickler):
    """Makes dataclasses, enums, named tuples and errors of the library, and plain data."""

    def load(self) -> Any:
        """The next value; raises pickle.UnpicklingError for whatever cannot be made of it."""
        try:
            return super().load()
        except pickle.UnpicklingError:
            raise
        except Exception as error:  # a damaged message may break anything in there
            msg = f"{type(error).__name__}: {error}"
            raise pickle.UnpicklingError(msg[:500]) from error

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in OTHERS:
            return super().find_class(module, name)
        if (module, name) == ("builtins", "getattr"):
            return _member
        if (module, name) == (error_again.__module__, error_again.__name__):
            return error_again
        if module.startswith(OURS) and "." not in name:
            found_class = super().find_class(module, name)
            if (
                isinstance(found_class, type)
                and found_class.__module__ == module
                and _is_data(found_class)
            ):
                return found_class
        msg = f"{module}.{name} is no data"
        raise pickle.UnpicklingError(msg)


def _member(kind: object, name: object) -> Enum:
    """What `getattr` is of a message: of an enum its member, as Python 3.11.2 has it written."""
    if not (isinstance(kind, type) and issubclass(kind, Enum) and name in kind.__members__):
        msg = f"{name!r:.100} of {kind!r:.100} is no data"
        raise pickle.UnpicklingError(msg)
    return kind[str(name)]


def _is_data(kind: type) -> bool:
    return (
        is_dataclass(kind)
        or issubclass(kind, Enum | BenchmarkError)
        or (issubclass(kind, tuple) and hasattr(kind, "_fields"))
    )


def unpacked(body: bytes | bytearray | memoryview) -> Any:
    """The data of a message of a child; raises pickle.UnpicklingError for anything else."""
    return Answers(io.BytesIO(body)).load()


def packed(value: Any) -> bytes:
    """The body of a message."""
    return pickle.dumps(value, PROTOCOL)


def in_pieces(items: Iterator[Any], most_items: int, most_bytes: int) -> Iterator[bytes]:
    """Bodies of items, one after the other: one at first, then twice as many, up to `most_items`.

    None waits for another once they have `most_bytes`. The first comes at once, and a message of
    small items is large enough to cost next to nothing.
    """
    n, n_waiting = 1, 0
    body = io.BytesIO()
    pickler = pickle.Pickler(body, PROTOCOL)
    for item in items:
        pickler.dump(item)
        n_waiting += 1
        if n_waiting >= n or body.tell() >= most_bytes:
            yield body.getvalue()
            n, n_waiting = min(2 * n, most_items), 0
            body = io.BytesIO()
            pickler = pickle.Pickler(body, PROTOCOL)
    if n_waiting:
        yield body.getvalue()


def items_in(body: bytes | bytearray) -> Iterator[Any]:
    """The items of such a body; raises as `unpacked` does."""
    content = io.BytesIO(body)
    answers = Answers(content)
    while content.tell() < len(body):
        yield answers.load()
