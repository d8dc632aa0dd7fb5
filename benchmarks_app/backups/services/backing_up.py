"""A backup of the whole site while it works: rows as of one moment, and the files they name.

Files are written before the rows that name them and never change, so that rows come first; a file
that nothing needs any more is removed only when no backup is under way (`files.remove`).
"""

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections, transaction
from django.utils import timezone

from benchmarks_app import files
from benchmarks_app.backups.services import table_rows
from benchmarks_app.files import StoredFile
from benchmarks_app.hosts import site_version
from benchmarks_app.migrated import unapplied
from benchmarks_app.models import Backup
from benchmarks_app.store import file_store
from benchmarks_app.store.errors import StoreAwayError
from benchwright.backups.errors import BackupError, NotMigratedError
from benchwright.backups.layout import FILES, FORMAT, write_manifest
from benchwright.backups.lines import LineWriter
from benchwright.backups.targets import Target

log = logging.getLogger(__name__)

SEEN_EVERY_SECONDS = 5.0
NAMES = "%Y%m%dT%H%M%S.%fZ"
# What is done just now, in words.
Say = Callable[[str], None]


class UnreadableError(BackupError):
    """A stored file that is gone, altered, or not given by the disk: the others are backed up."""

    message = "{problem}"


def back_up(target: Target, say: Say = lambda text: None) -> Backup:
    """Write a snapshot of all rows and the files they name; its row says what it lacks.

    Raises
    ------
    BackupError, OSError
        Then there is no new snapshot; those before are what they were.
    """
    backup = Backup(place=target.place, snapshot=timezone.now().strftime(NAMES))
    with _written_down(backup), target.writing(backup.snapshot) as folder:
        with frozen(folder):
            manifest = _manifest() | {"tables": written_tables(folder, say)}
            needed = {file.name: file for file in files.stored_files() if file.name}
        manifest["files"] = _files(needed, target, folder, backup, say)
        manifest["broken"] = backup.broken
        backup.n_rows = sum(facts["rows"]["n_rows"] for facts in manifest["tables"].values())
        write_manifest(folder, manifest)
    return backup


# --- that it is under way ------------------------------------------------------------------


@contextmanager
def _written_down(backup: Backup) -> Iterator[None]:
    """Keep a row of the backup while it goes on and after; and hold stored files by that.

    A database that takes no row, on a full disk for instance, is backed up all the same.
    """
    try:
        backup.save()
    except DatabaseError:
        log.exception("the database cannot be written to; a file removed meanwhile may be missing")
    try:
        with _seen(backup):
            yield
        backup.finished_at = timezone.now()
    except BaseException as error:
        backup.error = str(error) or type(error).__name__
        raise
    finally:
        if backup.pk:
            with suppress(DatabaseError):
                backup.seen_at = timezone.now()
                backup.save()


@contextmanager
def _seen(backup: Backup) -> Iterator[None]:
    over = threading.Event()

    def beat() -> None:
        try:
            while not over.wait(SEEN_EVERY_SECONDS):
                with suppress(DatabaseError):
                    Backup.objects.filter(pk=backup.pk).update(seen_at=timezone.now())
        finally:
            connection.close()

    thread = threading.Thread(target=beat, name="backup", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# --- one moment ----------------------------------------------------------------------------


@contextmanager
def frozen(folder: Path) -> Iterator[None]:
    """All that this thread reads from the database is as of one moment; others go on writing.

    Of SQLite it is a copy in `folder`, gone afterwards; of PostgreSQL a transaction.
    """
    if connection.vendor == "postgresql":
        with transaction.atomic(durable=True), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
        return
    site, path = connections[DEFAULT_DB_ALIAS], folder / "frozen.sqlite3"
    site.ensure_connection()
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    reader = type(site)({**site.settings_dict, "NAME": str(path), "OPTIONS": {}}, site.alias)
    try:
        with closing(sqlite3.connect(path)) as copy:
            site.connection.backup(copy)
        connections[DEFAULT_DB_ALIAS] = reader
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = site
        reader.close()
        for leftover in folder.glob(f"{path.name}*"):
            leftover.unlink()


# --- rows and files ------------------------------------------------------------------------


def _manifest() -> dict[str, Any]:
    """What a restore has to know of this site.

    Raises
    ------
    NotMigratedError
        If the tables are not those of this version, which alone knows where files are named.
    """
    if missing := unapplied():
        raise NotMigratedError(missing=", ".join(".".join(migration) for migration in missing[:3]))
    return {
        "format": FORMAT,
        "version": f"benchwright {site_version()}",
        "taken_at": timezone.now().isoformat(),
        "database": connection.vendor,
        "migrations": table_rows.applied_migrations(),
        "left_out": list(table_rows.LEFT_OUT),
    }


def written_tables(folder: Path, say: Say) -> dict[str, Any]:
    """The rows of every table, written; what the manifest says of each."""
    tables = table_rows.tables_of(table_rows.applied_migrations())

    def tell(name: str, n: int) -> None:
        say(f"{n:,} rows of {name}")

    return {
        name: {
            "columns": list(table.kinds),
            "last_number": table_rows.last_number(table),
            "rows": table_rows.write_table(
                table, folder / "rows" / f"{name}.jsonl.zst", tell
            ).as_json(),
        }
        for name, table in tables.items()
    }


def _files(
    needed: dict[str, StoredFile], target: Target, folder: Path, backup: Backup, say: Say
) -> dict[str, Any]:
    """Copy what is not kept yet, and list all; what the manifest says of the list."""
    with LineWriter(folder / FILES) as out:
        for n, (name, stored) in enumerate(sorted(needed.items()), start=1):
            size, digest = target.size_of(stored.sha256), stored.sha256
            if size is None:
                try:
                    digest, size = _copied(stored, target, backup)
                except UnreadableError as error:
                    damage = {"file": name, "what": stored.what, "problem": str(error)}
                    backup.broken.append(damage)
                    continue
            out.write([name, digest, size, stored.sha256])
            backup.n_files += 1
            backup.n_bytes += size
            say(f"{n:,} of {len(needed):,} files, {backup.n_bytes_copied / 1e6:,.1f} MB copied")
    return out.written.as_json()


def _copied(stored: StoredFile, target: Target, backup: Backup) -> tuple[str, int]:
    try:
        content = file_store().opened(stored.name)
    except FileNotFoundError as error:
        raise UnreadableError(problem="gone") from error
    except StoreAwayError:
        raise
    except OSError as error:
        raise UnreadableError(problem=f"cannot be read: {error}") from error
    with content:
        digest, size = target.add(
            cast(IO[bytes], _Source(content)), stored.sha256, lambda n_bytes: None
        )
    if stored.sha256 not in ("", digest):
        problem = f"altered: SHA-256 {digest}, expected {stored.sha256}"
        raise UnreadableError(problem=problem)
    backup.n_copied += 1
    backup.n_bytes_copied += size
    return digest, size


class _Source:
    """Tells a disk that does not give a file from one that does not take it."""

    def __init__(self, content: IO[bytes]) -> None:
        self._content = content

    def read(self, size: int) -> bytes:
        try:
            return self._content.read(size)
        except StoreAwayError:
            raise
        except OSError as error:
            raise UnreadableError(problem=f"cannot be read: {error}") from error
