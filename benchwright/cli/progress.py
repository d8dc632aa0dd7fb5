"""What is being worked on, for a person who has waited a second."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading

PATIENCE, PAUSE = 1.0, 0.2
CLEAR_LINE = "\r\x1b[K"


@contextmanager
def told(what: str) -> Iterator[None]:
    """Say on a terminal's standard error what is being done, once it has taken a second."""
    if not sys.stderr.isatty():
        yield
        return
    import threading

    done = threading.Event()
    teller = threading.Thread(target=_tell, args=(what, done), daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _tell(what: str, done: "threading.Event") -> None:
    import time

    start = time.monotonic()
    if done.wait(PATIENCE):
        return
    while not done.wait(PAUSE):
        sys.stderr.write(f"{CLEAR_LINE}{what} … {time.monotonic() - start:.0f} s")
        sys.stderr.flush()
    sys.stderr.write(CLEAR_LINE)
    sys.stderr.flush()
