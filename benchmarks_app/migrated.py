"""Whether the database has the tables that this version works with."""

from functools import cache

from django.db import DatabaseError, OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from benchwright.errors import BenchmarkError


class NotMigratedError(BenchmarkError):
    """The database is of an earlier version, or empty."""

    code = "not-migrated"
    status = 503
    message = (
        "The database is not up to date: {n} migrations have not been applied. Run "
        "`manage.py migrate`, or start the site with `manage.py up`, which does that first."
    )


def unapplied() -> list[tuple[str, str]]:
    """The migrations that the database lacks, by app and name, in their order.

    Raises
    ------
    DatabaseError
        If it does not answer.
    """
    return sorted(_migrations() - MigrationRecorder(connection).applied_migrations().keys())


@cache
def _migrations() -> frozenset[tuple[str, str]]:
    """Those of this version, by app and name; of a squashed one, what it stands for."""
    migrations = MigrationLoader(None).disk_migrations
    return frozenset(key for key, migration in migrations.items() if not migration.replaces)


def is_database_away(error: Exception) -> bool:
    """Whether that is why something failed: nobody can be connected now either."""
    if not isinstance(error, OperationalError):
        return False
    try:
        connection.ensure_connection()
    except OperationalError:
        return True
    return False


def explained(error: Exception) -> Exception:
    """`NotMigratedError` where that is why the database refused something, or the error itself."""
    if not isinstance(error, DatabaseError):
        return error
    try:
        missing = unapplied()
    except DatabaseError:
        return error
    return NotMigratedError(n=len(missing)) if missing else error
