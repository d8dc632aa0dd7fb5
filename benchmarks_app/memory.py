"""Memory of a process that stays: what is loaded once, and what is given back after an answer."""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# <malloc.h>; the sizes are glibc's own, at which it begins.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
THRESHOLD = 128 << 10
ARENAS = 2
# An answer or a job makes objects by the ten thousand, and circles of them next to never: Python's
# own 700 would have the collector look through all of them some thirty times.
COLLECTED_EVERY = 5_000


def return_memory_at_once() -> None:
    """Keep what glibc's malloc holds back for later small, whichever thread asks.

    By itself it raises the size from which memory is returned when freed, up to 32 MB, after each
    large block, and gives every thread a heap: eight threads that answer then each keep the most
    that any answer took. Other C libraries have no such call, and are left alone.
    """
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, THRESHOLD)  # either threshold, once set, stays
        mallopt(M_TRIM_THRESHOLD, THRESHOLD)
        mallopt(M_ARENA_MAX, ARENAS)


@contextmanager
def loading_for_good() -> Iterator[None]:
    """What is loaded meanwhile stays: Python's collector looks through it neither now nor later.

    It would take a fifth of the time to load it; and as it writes to every object that it looks at,
    processes that are forked would soon share none of it.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(COLLECTED_EVERY)
        gc.enable()
