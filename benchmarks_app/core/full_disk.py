"""A disk without room, however a library words it."""

import errno

from benchmarks_app.core.errors import BenchmarkError

NUMBERS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
WORDS = (
    "no space left on device",
    "disk quota exceeded",
    "file too large",
    "os error 28",
    "os error 27",
    "os error 122",
)


class DiskFullError(BenchmarkError):
    code = "disk-full"
    status = 507
    message = (
        "The disk of this site is full: nothing was stored, and nothing is counted. Whoever runs "
        "the site must free some space; then try again."
    )


def is_disk_full(error: BaseException | None) -> bool:
    """Whether this error, or the one it came from, is for lack of room.

    Examples
    --------
    >>> is_disk_full(OSError(28, "No space left on device")), is_disk_full(ValueError("28"))
    (True, False)
    """
    while error is not None:
        if isinstance(error, OSError) and error.errno in NUMBERS:
            return True
        said = str(error).lower()
        if type(error).__module__.startswith("polars") and any(word in said for word in WORDS):
            return True
        if isinstance(error, OSError) and any(word in said for word in WORDS):
            return True
        error = error.__cause__ or error.__context__
    return False
