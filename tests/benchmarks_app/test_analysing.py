"""Statistics of the database after bulk writes, by what the database itself says of them."""

import pytest
from django.db import connection

from benchmarks_app.common.services.analysing import analyse
from benchmarks_app.models import Team

SAID = {
    "postgresql": "SELECT reltuples FROM pg_class WHERE relname = %s",
    "sqlite": "SELECT stat FROM sqlite_stat1 WHERE tbl = %s AND stat IS NOT NULL",
}


def rows_said(model) -> int | None:
    """How many rows the database believes a table to have; None where it knows nothing."""
    with connection.cursor() as cursor:
        if "sqlite_stat1" in SAID[connection.vendor]:
            cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'")
            if cursor.fetchone() is None:
                return None
        cursor.execute(SAID[connection.vendor], [model._meta.db_table])
        row = cursor.fetchone()
    return int(str(row[0]).split(".")[0].split()[0]) if row else None


@pytest.mark.django_db
@pytest.mark.parametrize(("n", "written"), [(300, (Team,)), (310, ())])
def test_the_database_knows_how_many_rows_were_written(
    django_capture_on_commit_callbacks, n, written
):
    Team.objects.bulk_create(Team(name=f"team {number}") for number in range(n))
    assert rows_said(Team) != n

    with django_capture_on_commit_callbacks(execute=True):
        analyse(*written)

    assert rows_said(Team) == n


@pytest.mark.django_db
def test_nothing_is_looked_at_before_it_is_committed(django_capture_on_commit_callbacks):
    Team.objects.bulk_create(Team(name=f"team {number}") for number in range(320))
    with django_capture_on_commit_callbacks() as callbacks:
        analyse(Team)
    assert len(callbacks) == 1
    assert rows_said(Team) != 320
