"""Bytes that the database does not use any more are overwritten, or their files removed."""

import time
from collections.abc import Collection
from typing import Any

from django.db import OperationalError, connection

from benchmarks_app.errors import FreedPagesError
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job, User

JOB_KIND = "erase-freed-pages"
TITLE = "Overwrite what was deleted from the database"
TRIES, PAUSE_SECONDS = 5, 1.0
# For transactions that were open before, a pause each.
WAITS = 60


def start_erasing(*, tables: Collection[str], user: User | None) -> Job:
    """Overwrite in the background what is no longer used of these tables."""
    return jobs.start(
        kind=JOB_KIND,
        title=TITLE,
        benchmark=None,
        user=user,
        parameters={"tables": sorted(tables)},
    )


def erase_job(job: jobs.RunningJob) -> None:
    erase_freed_pages(job.parameters["tables"])


def erase_freed_pages(tables: Collection[str]) -> None:
    """Leave no byte of rows that were deleted or changed in the database's own files.

    SQLite writes zeros over what is deleted (`secure_delete`); here the file is written anew
    without what was freed before that, and the write-ahead log is emptied. PostgreSQL keeps old
    rows and leaves their bytes in pages even after a plain VACUUM: these tables are written anew,
    with their indexes, and the old files are removed, as are the statistics of their values, which
    the owner of the database may write anew. Its own write-ahead log, backups and replicas are not
    touched.

    Raises
    ------
    FreedPagesError
        If others read or write all the time, so that the database cannot be written anew.
    """
    known_tables = set(connection.introspection.table_names()) & set(tables)
    for attempt in range(TRIES):
        try:
            with connection.cursor() as cursor:
                if connection.vendor == "sqlite":
                    _rewrite_sqlite(cursor)
                else:
                    _wait_for_older(cursor)
                    for table in sorted(known_tables):
                        name = connection.ops.quote_name(table)
                        cursor.execute(f"VACUUM (FULL, ANALYZE) {name}")
                    # What the planner knew of them: the commonest values, and some of all others.
                    _wait_for_older(cursor)
                    cursor.execute("VACUUM (FULL) pg_statistic")
                    cursor.execute("CHECKPOINT")
        except OperationalError as error:
            if attempt == TRIES - 1:
                raise FreedPagesError(reason=str(error)) from error
            time.sleep(PAUSE_SECONDS)
        else:
            return


def _wait_for_older(cursor: Any) -> None:
    """Wait until no transaction is open that began before now.

    PostgreSQL keeps for those what was deleted since, also where it writes a table anew; a
    transaction that writes in any database of the server is enough for that.
    """
    cursor.execute(
        "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, clock_timestamp()"
    )
    newest, now = cursor.fetchone()
    for _ in range(WAITS):
        cursor.execute(
            "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= %s AND NOT EXISTS ("
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL AND xact_start < %s)",
            [newest, now],
        )
        if cursor.fetchone()[0]:
            return
        time.sleep(PAUSE_SECONDS)
    raise FreedPagesError(reason="a transaction is still open that began before")


def _rewrite_sqlite(cursor: Any) -> None:
    cursor.execute("VACUUM")
    cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    is_busy = cursor.fetchone()[0]
    if is_busy:
        message = "others are reading"
        raise OperationalError(message)
