"""What the planner of PostgreSQL should know of tables that were written in bulk."""

from functools import partial

from django.db import connection, models, transaction


def analyse(*written: type[models.Model]) -> None:
    """Gather statistics of these tables once what was written is committed.

    Autovacuum comes when a tenth of a table has changed: a benchmark that is young beside a large
    site would be planned for as if it had no rows. SQLite plans without statistics.
    """
    if connection.vendor == "postgresql":
        transaction.on_commit(partial(_analyse, written), robust=True)


def _analyse(written: tuple[type[models.Model], ...]) -> None:
    with connection.cursor() as cursor:
        for model in written:
            cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")
