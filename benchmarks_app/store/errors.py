"""Why a store of files gives nothing.

BenchmarkError
└── StoreAwayError      it cannot be asked, or refuses to answer
"""

from datetime import datetime

from benchwright.errors import BenchmarkError


class StoreAwayError(BenchmarkError, OSError, code="store-away", status=503):
    heading = "Files cannot be reached"
    retry_after = 60
    message = (
        "The store of this site's files does not answer: nothing was read or written. Try again in "
        "a minute; jobs do so by themselves. Whoever runs the site finds the cause in its log, and "
        "with manage.py doctor."
    )


class AlteredError(Exception):
    """Bytes that are not those which were stored; `files` makes a StoredFileError of it."""

    def __init__(self, sha256: str, changed_at: datetime) -> None:
        super().__init__(sha256)
        self.sha256 = sha256
        self.changed_at = changed_at
