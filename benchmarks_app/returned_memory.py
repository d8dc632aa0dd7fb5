"""Memory of a process that stays: given back once a large answer is done, or not looked through."""

import ctypes
import gc
from contextlib import suppress
from typing import Any

from django.core.signals import request_finished

# <malloc.h>; the sizes are glibc's own, at which it begins.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
THRESHOLD = 128 << 10
ARENAS = 2


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


def pass_over_what_is_loaded(**kwargs: Any) -> None:
    """After its first answer a process has its code: Python's collector looks through it no more.

    That takes longer than a board does, and comes while one is made, of many new objects.
    """
    request_finished.disconnect(pass_over_what_is_loaded)
    gc.collect()
    gc.freeze()
