"""One site a folder: who has `up` running there, and who may join it."""

import json
import logging
import os
import socket
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]

from django.conf import settings
from django.utils import timezone

from benchwright.errors import BenchmarkError

log = logging.getLogger(__name__)


class FolderInUseError(BenchmarkError):
    """Two sites would write into each other's files and take each other's jobs."""

    code = "folder-in-use"
    status = 409
    message = (
        "The folder {folder} is in use by another site: {holder}. Stop that one, or give this one "
        "a folder of its own (BENCHWRIGHT_DATA)."
    )


class SiteLock:
    """The folder of a site, held for as long as this process lives, however it ends.

    On SQLite one process holds it alone. Several on one PostgreSQL database are one site on
    several machines, and share it; on two databases they are not.

    Parameters
    ----------
    address
        Where the site is, for whoever comes second.
    is_alone
        Whether nobody may share it, on PostgreSQL neither.

    Raises
    ------
    FolderInUseError
        If another site holds the folder; names its process and its address.
    """

    def __init__(self, address: str, *, is_alone: bool = False) -> None:
        self._file: IO[str] = (Path(settings.DATA_DIR) / "up.lock").open("a+")
        before = _written(self._file)
        # Whether the one before had no time to stop its processes.
        self.was_left = False
        if self._is_locked("LOCK_EX"):
            self.was_left = bool(before)
            _write(self._file, address)
            # Between the two another one may take it: it is let go for a moment.
            if is_alone or _is_sqlite() or self._is_locked("LOCK_SH"):
                return
        elif not is_alone and before.get("database") == _database() and self._is_locked("LOCK_SH"):
            return
        holder = _holder(_written(self._file))
        self._file.close()
        raise FolderInUseError(folder=settings.DATA_DIR, holder=holder)

    def release(self) -> None:
        """Give it back in order: nothing of this site runs any more."""
        if self._is_locked("LOCK_EX"):  # not while others share it
            self._file.truncate(0)
        self._file.close()

    def _is_locked(self, kind: str) -> bool:
        if fcntl is None:
            return True
        try:
            fcntl.flock(self._file, getattr(fcntl, kind) | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def at_work(*, is_alone: bool = False) -> IO[str]:
    """A file that each web server and sweeper of the folder holds open, and what is alone there.

    They may have been started by themselves, without `up`; where a disk knows no locks all may.

    Raises
    ------
    FolderInUseError
        If one of the other kind has it.
    """
    file = (Path(settings.DATA_DIR) / "work.lock").open("a+")
    try:
        if fcntl is not None:
            fcntl.flock(file, (fcntl.LOCK_EX if is_alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        holder = "a web server or a sweeper of its own" if is_alone else "manage.py restore"
        raise FolderInUseError(folder=settings.DATA_DIR, holder=holder) from None
    except OSError:
        log.warning("%s: no locks there; a restore does not see who is at work", file.name)
    return file


def _written(file: IO[str]) -> dict[str, Any]:
    file.seek(0)
    try:
        facts = json.loads(file.read())
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _write(file: IO[str], address: str) -> None:
    facts = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "address": address,
        "database": _database(),
        "since": f"{timezone.now():%Y-%m-%d %H:%M} UTC",
    }
    file.truncate(0)
    file.write(json.dumps(facts) + "\n")
    file.flush()


def _is_sqlite() -> bool:
    return str(settings.DATABASES["default"]["ENGINE"]).endswith("sqlite3")


def _database() -> str:
    """Which database a site is on, without a password."""
    config = settings.DATABASES["default"]
    return f"{config.get('HOST', '')}:{config.get('PORT', '')}/{config['NAME']}"


def _holder(facts: dict[str, Any]) -> str:
    if not facts:
        return "a process that is just starting"
    pid, host, address, since = (facts.get(name) for name in ("pid", "host", "address", "since"))
    return f"process {pid} on {host}, at {address}, since {since}"
