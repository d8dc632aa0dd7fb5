"""The tables of a new site are those that all migrations end with, and the same is applied."""

import re
import sqlite3
import subprocess
import sys

import pytest

from tests.system.site import ROOT, Site

# One process makes the databases for all.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("first-tables")]
COLUMNS = "SELECT name, type, [notnull], dflt_value, pk FROM pragma_table_info(?)"
KEYS = "SELECT [table], [from], [to], on_update, on_delete FROM pragma_foreign_key_list(?)"


@pytest.fixture(scope="module")
def databases(tmp_path_factory) -> tuple[sqlite3.Connection, sqlite3.Connection]:
    """One that was migrated step by step, and one whose tables were made at once."""
    results = []
    ways = {"steps": ["migrate", "-v0", "--one-by-one"], "once": ["migrate", "-v0"]}
    for name, words in ways.items():
        with Site(tmp_path_factory.mktemp(name)) as site:
            if not site.database.startswith("sqlite"):
                pytest.skip("compares files of SQLite")
            site.drop_tables()
            command = [sys.executable, "manage.py", *words]
            subprocess.run(command, cwd=ROOT, env=site.env, check=True, capture_output=True)
            results.append(sqlite3.connect(site.database.removeprefix("sqlite:///")))
    return results[0], results[1]


def columns(database: sqlite3.Connection) -> dict[str, list]:
    """Columns and foreign keys of each table; their order tells only when each came."""
    rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {
        table: sorted(map(repr, database.execute(asked, [table])))
        for (table,) in rows
        for asked in (COLUMNS, KEYS)
    }


def parts(database: sqlite3.Connection) -> dict[tuple[str, str], list[str]]:
    """Tables, indexes and triggers by name, each with the parts of its statement in any order."""
    rows = database.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    return {(kind, name): sorted(re.split(r"[\s,()]+", sql or "")) for kind, name, sql in rows}


def test_tables_indexes_constraints_and_triggers_are_the_same(databases):
    steps, once = databases

    assert parts(once) == parts(steps)
    assert columns(once) == columns(steps)


@pytest.mark.parametrize(
    ("table", "fields"),
    [
        ("django_migrations", "app, name"),
        ("django_content_type", "app_label, model"),
        ("auth_permission", "codename, name"),
    ],
)
def test_rows_that_migrations_leave_are_the_same(databases, table, fields):
    asked = f"SELECT {fields} FROM {table} ORDER BY {fields}"  # names of ours

    steps, once = (database.execute(asked).fetchall() for database in databases)

    assert once == steps
    assert once


def test_no_table_has_rows_that_the_other_way_would_not_leave(databases):
    steps, once = databases
    tables = [table for (kind, table) in parts(steps) if kind == "table"]

    def counts(database: sqlite3.Connection) -> dict[str, int]:
        return {
            table: database.execute(f"SELECT count(*) FROM [{table}]").fetchone()[0]
            for table in tables
            if not table.startswith("sqlite_")
        }

    assert counts(once) == counts(steps)


# --- PostgreSQL, to the letter; on no machine but one whose DATABASE_URL names a server ------

CATALOGUE = {
    "columns": "SELECT table_name, column_name, data_type, is_nullable, column_default,"
    " character_maximum_length, identity_generation FROM information_schema.columns"
    " WHERE table_schema = 'public'",
    "constraints": "SELECT conrelid::regclass::text, contype::text, conname,"
    " pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
    "indexes": "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "triggers": "SELECT tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger"
    " WHERE NOT tgisinternal",
    "migrations": "SELECT app, name FROM django_migrations",
    "content types": "SELECT app_label, model FROM django_content_type",
    "permissions": "SELECT codename, name FROM auth_permission",
}


def test_catalogue_of_postgresql_is_the_same(tmp_path):
    results = []
    for words in (["migrate", "-v0", "--one-by-one"], ["migrate", "-v0"]):
        with Site(tmp_path / str(len(results))) as site:
            if site.database.startswith("sqlite"):
                pytest.skip("compares databases of PostgreSQL")
            site.drop_tables()
            site.manage(*words)
            results.append({what: sorted(site.rows(asked)) for what, asked in CATALOGUE.items()})

    steps, once = results
    assert all(steps.values())
    assert once == steps


def test_database_with_tables_is_left_to_the_migrations(db):
    from benchmarks_app.first_tables import make_tables

    assert make_tables() is False
