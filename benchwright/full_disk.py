"""A disk without room, however a library words it."""

import errno
from collections.abc import Collection

from benchwright.errors import BenchmarkError

WORDS = {
    errno.ENOSPC: ("no space left on device", "os error 28"),
    errno.EDQUOT: ("disk quota exceeded", "os error 122"),
    errno.EFBIG: ("file too large", "os error 27"),
}
# As databases number it: SQLITE_FULL, SQLITE_IOERR_SHMSIZE (there is no room to open it), and
# disk_full of PostgreSQL.
OF_DATABASES = {13, 4874, "53100"}


class DiskFullError(BenchmarkError, code="disk-full", status=507):
    message = (
        "The disk of this site is full: nothing was stored, and nothing is counted. Whoever runs "
        "the site must free some space; then try again."
    )


def is_disk_full(error: BaseException | None, *, besides: Collection[int] = ()) -> bool:
    """Whether this error, or the one it came from, is for lack of room.

    Errors with the numbers `besides` are not counted.

    Examples
    --------
    >>> is_disk_full(OSError(28, "No space left on device")), is_disk_full(ValueError("28"))
    (True, False)
    """
    counted = {number: words for number, words in WORDS.items() if number not in besides}
    said_so = [word for words in counted.values() for word in words]
    while error is not None:
        if isinstance(error, OSError) and error.errno in counted:
            return True
        if OF_DATABASES & {getattr(error, name, None) for name in ("sqlite_errorcode", "sqlstate")}:
            return True
        may_say_so = isinstance(error, OSError) or type(error).__module__.startswith("polars")
        if may_say_so and any(word in str(error).lower() for word in said_so):
            return True
        error = error.__cause__ or error.__context__
    return False
