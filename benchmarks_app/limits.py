"""How often something may be asked for, counted where nothing else pushes the counts out."""

import fcntl
import json
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.utils.connection import ConnectionProxy

counts = ConnectionProxy(caches, "limits")
HOUR = 3600
# After so many writes what holds no more is removed.
CLEARED_EVERY = 1_000
_TABLE = (
    "CREATE TABLE IF NOT EXISTS counts (key TEXT PRIMARY KEY, value TEXT, until REAL) WITHOUT ROWID"
)
_PUT = (
    "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE "
    "SET value = excluded.value, until = excluded.until"
)


def is_among_first(most: int, *, of: str) -> bool:
    """Count one more of these within the hour; whether there were at most so many."""
    counts.add(of, 0, HOUR)
    try:
        return bool(counts.incr(of) <= most)
    except ValueError:  # the hour ended in between
        return True


def _path() -> Path:
    return Path(settings.DATA_DIR) / "cache" / "limits.sqlite3"


class SharedCounts(BaseCache):
    """A cache that all processes of a host share: a file of the data folder, of JSON values.

    It counts without gaps (`incr`, `add`), whichever process is asked: with several web processes a
    limit is one limit. What is lost with a computer is counted anew.
    """

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._of_thread = threading.local()

    def _open(self) -> sqlite3.Connection:
        path = _path()
        opened: tuple[Path, sqlite3.Connection] | None = getattr(self._of_thread, "open", None)
        if opened is not None and opened[0] == path and path.exists():
            return opened[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=10, isolation_level=None)
        # One after the other: who makes a new file one with a log of writes does not wait for
        # another who does, whatever the timeout.
        with path.with_suffix(".lock").open("ab") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute(_TABLE)
        self._of_thread.open, self._of_thread.n = (path, connection), 0
        return connection

    def _write(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        connection = self._open()
        self._of_thread.n += 1
        if self._of_thread.n % CLEARED_EVERY == 0:
            connection.execute("DELETE FROM counts WHERE until <= ?", (time.time(),))
        return connection.execute(statement, values).fetchall()

    def _until(self, timeout: Any) -> float | None:
        until: float | None = self.get_backend_timeout(timeout)
        return until

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        question = "SELECT value FROM counts WHERE key = ? AND (until IS NULL OR until > ?)"
        name = self.make_and_validate_key(key, version=version)
        row = self._open().execute(question, (name, time.time())).fetchone()
        return json.loads(row[0]) if row else default

    def set(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        name = self.make_and_validate_key(key, version=version)
        self._write(_PUT, (name, json.dumps(value), self._until(timeout)))

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        name = self.make_and_validate_key(key, version=version)
        statement = f"{_PUT} WHERE counts.until <= ? RETURNING 1"
        values = (name, json.dumps(value), self._until(timeout), time.time())
        return bool(self._write(statement, values))

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        name = self.make_and_validate_key(key, version=version)
        statement = (
            "UPDATE counts SET value = value + ? WHERE key = ? AND (until IS NULL OR until > ?) "
            "RETURNING value"
        )
        rows = self._write(statement, (delta, name, time.time()))
        if not rows:
            msg = f"{key} is not counted"
            raise ValueError(msg)
        return int(rows[0][0])

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        name = self.make_and_validate_key(key, version=version)
        statement = "UPDATE counts SET until = ? WHERE key = ? AND until > ? RETURNING 1"
        return bool(self._write(statement, (self._until(timeout), name, time.time())))

    def delete(self, key: str, version: int | None = None) -> bool:
        name = self.make_and_validate_key(key, version=version)
        return bool(self._write("DELETE FROM counts WHERE key = ? RETURNING 1", (name,)))

    def clear(self) -> None:
        if _path().exists():
            self._write("DELETE FROM counts", ())
