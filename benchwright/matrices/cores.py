"""Work on every core: matrix products that stay on the core of the thread that asks for them.

A linear algebra library shares each product among all cores, which then wait for the slowest: on a
machine with anything else to do that is several times slower than one core alone. Threads that
each compute their own tiles need not wait, and count on all cores as well.
"""

import ctypes
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

MOST_THREADS = 8
LIBRARIES = ("../numpy.libs/libscipy_openblas*", ".dylibs/libscipy_openblas*")
NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads")


@contextmanager
def worked_on_all_cores() -> Iterator[Callable[..., Iterator[Any]]]:
    """A `map` whose calls run at the same time, in order of the arguments, on all cores.

    It is the plain `map` where numpy's library cannot be told to stay on one core: then the library
    itself uses them all.
    """
    n_threads = min(n_cores(), MOST_THREADS)
    if n_threads < 2 or _library() is None:
        yield map
        return
    with _products_on_one_core():
        threads = ThreadPoolExecutor(n_threads)
        try:
            yield threads.map
        finally:
            # What waits is dropped where the work is ended early.
            threads.shutdown(cancel_futures=True)


def n_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Library:
    """The OpenBLAS that numpy brings, and who wants its products on one core."""

    def __init__(self, get: Any, set_: Any) -> None:
        self.get, self.set = get, set_
        self.lock = Lock()
        self.n_users = self.n_before = 0

    def enter(self) -> None:
        with self.lock:
            if not self.n_users:
                self.n_before = self.get()
                self.set(1)
            self.n_users += 1

    def leave(self) -> None:
        with self.lock:
            self.n_users -= 1
            if not self.n_users:
                self.set(self.n_before)


@contextmanager
def _products_on_one_core() -> Iterator[None]:
    library = _library()
    if library is None:
        yield
        return
    library.enter()
    try:
        yield
    finally:
        library.leave()


@cache
def _library() -> _Library | None:
    """None where numpy was built with another library, or one that does not take orders."""
    place = Path(np.__file__).parent
    for path in _found(place):
        try:
            loaded = ctypes.CDLL(str(path))
        except OSError:
            continue
        for name in NAMES:
            get, set_ = (getattr(loaded, name.format(each), None) for each in ("get", "set"))
            if get is not None and set_ is not None:
                return _Library(get, set_)
    return None


def _found(place: Path) -> Iterable[Path]:
    return [
        path
        for pattern in LIBRARIES
        for path in sorted((place / pattern).parent.glob(Path(pattern).name))
    ]
