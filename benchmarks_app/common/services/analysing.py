"""What the planner of a database should know of tables that were written in bulk."""

from functools import partial

from django.db import connection, models, transaction

# Of each index SQLite reads so many rows, however large a table is.
ROWS_READ = 1_000


def analyse(*written: type[models.Model]) -> None:
    """Gather statistics of these tables once what was written is committed; of all without any.

    Autovacuum of PostgreSQL comes when a tenth of a table has changed, and SQLite never looks by
    itself: a benchmark that is young beside a large site would be planned for as if it had no rows.
    """
    transaction.on_commit(partial(_analyse, written), robust=True)


def _analyse(written: tuple[type[models.Model], ...]) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"PRAGMA analysis_limit = {ROWS_READ}")
        for model in written:
            cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")
        if not written:
            cursor.execute("ANALYZE")
