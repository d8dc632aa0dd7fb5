"""Rows of every table in words that SQLite and PostgreSQL share, written and loaded in a stream.

A table is known from the migrations that are applied, so that rows of an earlier version go back
into tables of that version.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db import DatabaseError, connection, models
from django.db.migrations.loader import MigrationLoader

from benchwright.backups.errors import RowRefusedError
from benchwright.backups.layout import Snapshot
from benchwright.backups.lines import LineWriter, Written, as_line, rows_in
from benchwright.files.external_sort import batched

ROWS_AT_ONCE = 2_000
# As many rows a table may have got after a backup, so that none of their numbers is given again.
GIVEN_SINCE = 1_000_000
# What a site makes anew: who is signed in, what limits count, which workers are alive, what was
# answered to requests that may be sent again, what was on its way to webhooks and by mail (a copy
# would tell it once more), in which state kept pages were made; and what backups of this very site
# have found.
LEFT_OUT = (
    "django_session",
    "axes_",
    "benchmarks_app_workerheartbeat",
    "benchmarks_app_backup",
    "benchmarks_app_change",
    "benchmarks_app_leftfile",
    "benchmarks_app_keyedrequest",
    "benchmarks_app_delivery",
    "benchmarks_app_notice",
)
# What stands in a cell, by the kind of field; a kind that is not here stops a backup.
KINDS = {
    "AutoField": "number",
    "BigAutoField": "number",
    "BigIntegerField": "number",
    "BooleanField": "number",
    "CharField": "text",
    "DateField": "text",
    "DateTimeField": "moment",
    "EmailField": "text",
    "FileField": "text",
    "FloatField": "float",
    "GenericIPAddressField": "address",
    "IntegerField": "number",
    "JSONField": "json",
    "PositiveBigIntegerField": "number",
    "PositiveIntegerField": "number",
    "PositiveSmallIntegerField": "number",
    "SlugField": "text",
    "SmallIntegerField": "number",
    "TextField": "text",
    "URLField": "text",
    "UUIDField": "uuid",
}
# Rows of a table done, and its name.
Tell = Callable[[str, int], None]


@dataclass(frozen=True)
class Table:
    """A table of the migrations that are applied: its columns with their kinds, and its key."""

    name: str
    kinds: dict[str, str]
    key: str
    is_numbered: bool

    @classmethod
    def of(cls, model: type[models.Model]) -> "Table":
        kinds = {str(field.column): kind_of(field) for field in model._meta.local_concrete_fields}
        key = model._meta.pk
        is_numbered = isinstance(key, models.AutoField)
        return cls(model._meta.db_table, kinds, str(key.column), is_numbered)


def kind_of(field: models.Field) -> str:
    """What stands in a field's column.

    Raises
    ------
    KeyError
        If it is a kind of field that nobody has thought of here.
    """
    while isinstance(field, models.ForeignKey):
        field = field.target_field
    return KINDS[field.get_internal_type()]


def applied_migrations() -> list[tuple[str, str]]:
    """Every migration that is applied, by app and name."""
    return sorted(MigrationLoader(connection).applied_migrations)


def tables_of(migrations: Sequence[tuple[str, str]]) -> dict[str, Table]:
    """Every table that these migrations have made, by name; without those that are left out."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    nodes = [node for node in migrations if node in loader.graph.nodes]
    models = loader.project_state(nodes).apps.get_models(include_auto_created=True)
    tables = (Table.of(model) for model in models if model._meta.managed and not model._meta.proxy)
    return {
        table.name: table
        for table in sorted(tables, key=lambda table: table.name)
        if not table.name.startswith(LEFT_OUT)
    }


# --- writing -------------------------------------------------------------------------------


def write_table(table: Table, path: Path, tell: Tell) -> Written:
    """Write every row of a table, by key."""
    with LineWriter(path) as out:
        for row, canonical in _lines(table, tell):
            out.write(row, canonical)
    return out.written


def content_of(table: Table, tell: Tell) -> tuple[int, str]:
    """How many rows a table has, and the SHA-256 of what they say, as `Written` has them."""
    return _content(_lines(table, tell))


def content_in(table: Table, snapshot: Snapshot) -> tuple[int, str]:
    """As `content_of`, of the rows that a snapshot has of a table."""
    rows, in_json = rows_in(snapshot.rows_of(table.name)), _in_json(table)
    return _content((row, _canonical(row, in_json)) for row in rows)


def _content(lines: Iterable[tuple[list[Any], list[Any] | None]]) -> tuple[int, str]:
    n, digest = 0, hashlib.sha256()
    for row, canonical in lines:
        digest.update(as_line(row if canonical is None else canonical))
        n += 1
    return n, digest.hexdigest()


def _in_json(table: Table) -> list[int]:
    return [at for at, kind in enumerate(table.kinds.values()) if kind == "json"]


def _canonical(row: list[Any], in_json: list[int]) -> list[Any] | None:
    """How a row is worded where JSON is in it: the databases differ there."""
    if not in_json:
        return None
    canonical = list(row)
    for at in in_json:
        canonical[at] = row[at] and canonical_json(row[at])
    return canonical


def _lines(table: Table, tell: Tell) -> Iterator[tuple[list[Any], list[Any] | None]]:
    """Each row of a table, and as `_canonical` has it."""
    wordings = [_WORDINGS.get(kind) for kind in table.kinds.values()]
    in_json = _in_json(table)
    for n, cells in enumerate(_cells(table), start=1):
        row = [
            cell if word is None or cell is None else word(cell)
            for word, cell in zip(wordings, cells, strict=True)
        ]
        yield row, _canonical(row, in_json)
        if n % ROWS_AT_ONCE == 0:
            tell(table.name, n)


def _cells(table: Table) -> Iterator[Sequence[Any]]:
    quote, is_postgresql = connection.ops.quote_name, connection.vendor == "postgresql"
    casts = {"json": "{}::text", "address": "host({})"} if is_postgresql else {}
    columns = ", ".join(
        casts.get(kind, "{}").format(quote(name)) for name, kind in table.kinds.items()
    )
    # By bytes, as SQLite has it, wherever a key is text.
    by_bytes = ' COLLATE "C"' if is_postgresql and table.kinds[table.key] == "text" else ""
    query = f"SELECT {columns} FROM {quote(table.name)} ORDER BY {quote(table.key)}{by_bytes}"
    # On PostgreSQL the server keeps the rows until they are wanted.
    with connection.chunked_cursor() as cursor:
        cursor.execute(query)
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            yield from rows


def _moment(value: datetime) -> str:
    """A time as SQLite has it: in UTC, without saying so, with as many decimals as it needs."""
    aware = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
    return str(aware)


def _text(value: str | date) -> str:
    return value if isinstance(value, str) else str(value)


def _uuid(value: Any) -> str:
    return value if isinstance(value, str) else value.hex


def _float(value: float) -> float:
    return value + 0.0  # of the two zeros SQLite keeps one


_WORDINGS: dict[str, Callable[[Any], Any]] = {
    "float": _float,
    "moment": _moment,
    "text": _text,
    "uuid": _uuid,
}


def canonical_json(text: str) -> str:
    """JSON worded in one way: keys sorted, and 1e2, 100.0 and 100 alike, as PostgreSQL has them.

    Examples
    --------
    >>> canonical_json('{"b": 1e2, "a": [1.50, "\\\\u00e9"]}')
    '{"a":[1.5,"é"],"b":100}'
    """
    read = json.loads(text, parse_float=_number)
    return json.dumps(read, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _number(text: str) -> float | int:
    value = float(text)
    # By its digits: the float of 1e23 is less.
    return int(Decimal(text)) if value.is_integer() else value


def last_number(table: Table) -> int | None:
    """The highest number that rows of a table ever had as their key, or None."""
    if not table.is_numbered:
        return None
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table.name])
            row = cursor.fetchone()
            return int(row[0]) if row else 0
        cursor.execute(f"SELECT last_value, is_called FROM {_sequence_of(cursor, table)}")
        last, is_called = cursor.fetchone()
        return last if is_called else last - 1


def _sequence_of(cursor: Any, table: Table) -> str:
    name = connection.ops.quote_name(table.name)
    cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", [name, table.key])
    return str(cursor.fetchone()[0])


# --- loading -------------------------------------------------------------------------------


def load_table(table: Table, snapshot: Snapshot, tell: Tell) -> None:
    """Put the rows of a snapshot into an empty table, in the order of the table's columns there.

    Raises
    ------
    RowRefusedError
        If the database does not take one: SQLite knows no longest text and no largest number.
    """
    rows = rows_in(snapshot.rows_of(table.name))
    (_copy_in if connection.vendor == "postgresql" else _insert)(table, rows, tell)


def _insert(table: Table, rows: Iterator[list[Any]], tell: Tell) -> None:
    quote, n = connection.ops.quote_name, 0
    places = ", ".join(["%s"] * len(table.kinds))
    statement = f"INSERT INTO {quote(table.name)} ({_columns(table)}) VALUES ({places})"
    with connection.cursor() as cursor:
        for batch in batched(rows, ROWS_AT_ONCE):
            try:
                cursor.executemany(statement, batch)
            except (DatabaseError, OverflowError) as error:
                cursor.execute(f"SELECT COUNT(*) FROM {quote(table.name)}")
                line = cursor.fetchone()[0] + 1
                raise RowRefusedError(line=line, table=table.name, why=error) from error
            n += len(batch)
            tell(table.name, n)


def _copy_in(table: Table, rows: Iterator[list[Any]], tell: Tell) -> None:
    quote, n = connection.ops.quote_name, 0
    in_utc = [at for at, kind in enumerate(table.kinds.values()) if kind == "moment"]
    statement = f"COPY {quote(table.name)} ({_columns(table)}) FROM STDIN"
    try:
        with (
            connection.cursor() as cursor,
            connection.wrap_database_errors,
            cursor.copy(statement) as copy,
        ):
            for n, row in enumerate(rows, start=1):
                for at in in_utc:
                    row[at] = row[at] and f"{row[at]}+00"
                copy.write_row(row)
                if n % ROWS_AT_ONCE == 0:
                    tell(table.name, n)
    except DatabaseError as error:
        # The server has read less than was sent, and says how far it was.
        context = getattr(getattr(error.__cause__, "diag", None), "context", "")
        place = re.search(r"line (\d+)", str(context))
        line = place.group(1) if place else n
        why = str(error).splitlines()[0]
        raise RowRefusedError(line=line, table=table.name, why=why) from error


def _columns(table: Table) -> str:
    return ", ".join(map(connection.ops.quote_name, table.kinds))


def go_on_after(table: Table, number: int | None) -> None:
    """Let the next row of a table get a key that no row ever had, by this backup.

    Nor one that came since: a label that waits in a browser, or an address in a mail, is of a row
    that was not restored, and not of one that is made from now on.
    """
    if number is None:
        return
    last = number + GIVEN_SINCE
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table.name])
            cursor.execute("INSERT INTO sqlite_sequence VALUES (%s, %s)", [table.name, last])
        else:
            cursor.execute("SELECT setval(%s, %s)", [_sequence_of(cursor, table), last])
