"""What boards read is watched by the database: any change of it gives a benchmark a new state.

Triggers do it, so that no code path goes around: each adds to the row of `Change` that belongs to
the benchmark, or to all where a person or a team is called otherwise. `state_of` asks in one query.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db import connections
from django.db.models import BigIntegerField, Func, Q, QuerySet

from benchmarks_app.models.collection import EVERY_BENCHMARK, Change

TABLE = Change._meta.db_table
OPERATIONS = ("INSERT", "UPDATE", "DELETE")
# Of so many rows on, they are folded into one.
MOST_ROWS = 20
_RANDOM = {
    "postgresql": "(1 + floor(random() * 4294967296))::bigint",
    "sqlite": "(1 + abs(random() % 4294967296))",
}
_FOLD = f"""
WITH gone AS (
    DELETE FROM {TABLE} WHERE id IN (SELECT id FROM {TABLE} FOR UPDATE SKIP LOCKED)
    RETURNING benchmark, n
)
INSERT INTO {TABLE} (benchmark, writer, n)
SELECT benchmark, txid_current(), sum(n) FROM gone GROUP BY benchmark
"""


@dataclass(frozen=True)
class Watched:
    """A table that boards read; `benchmark` is whose row it is, as SQL over `{row}`.

    An update counts if one of the columns `only` differs, or any but those of `but`; with a
    `condition` rows count only where it holds, of an update before or after it.
    """

    table: str
    benchmark: str = "{row}.benchmark_id"
    only: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    condition: str = ""
    operations: tuple[str, ...] = OPERATIONS

    @property
    def triggers(self) -> list["ChangeTrigger"]:
        return [ChangeTrigger(self, operation) for operation in self.operations]


@dataclass(frozen=True)
class ChangeTrigger:
    """Counts a change of rows by one operation; beside `triggers.Trigger`, which refuses one."""

    watched: Watched
    operation: str
    columns: tuple[str, ...] = ()
    is_there: bool = True

    @property
    def name(self) -> str:
        return f"{self.watched.table}_changed_{self.operation.lower()}"

    @property
    def table(self) -> str:
        return self.watched.table

    def over(self, columns: Collection[str], tables: Collection[str]) -> "ChangeTrigger":
        """The trigger of a table of these columns, among these tables."""
        counted = (name for name in columns if name not in self.watched.but)
        if self.watched.only:
            counted = (name for name in columns if name in self.watched.only)
        return ChangeTrigger(self.watched, self.operation, tuple(sorted(counted)), TABLE in tables)

    def dropping(self, vendor: str) -> str:
        on_table = f" ON {self.table}" if vendor == "postgresql" else ""
        return f"DROP TRIGGER IF EXISTS {self.name}{on_table}"

    def statements(self, vendor: str) -> list[str]:
        if not self.is_there:
            return []
        return self._postgresql() if vendor == "postgresql" else self._sqlite()

    def _counts(self, row: str, before: str) -> str:
        """Whether a row counts, as SQL; `before` is what it was, of an update."""
        condition = self.watched.condition
        parts = [condition.format(row=row)] if condition else []
        if self.operation == "UPDATE":
            if condition:
                parts = [f"({parts[0]} OR {condition.format(row=before)})"]
            differs = (f"{row}.{name} IS DISTINCT FROM {before}.{name}" for name in self.columns)
            parts.append(f"({' OR '.join(differs)})")
        return " AND ".join(parts) or "1 = 1"

    def _sqlite(self) -> list[str]:
        row = "OLD" if self.operation == "DELETE" else "NEW"
        benchmark = self.watched.benchmark.format(row=row)
        return [
            f"CREATE TRIGGER {self.name} AFTER {self.operation} ON {self.table} "
            f"WHEN {self._counts(row, 'OLD')} BEGIN "
            f"INSERT INTO {TABLE} (benchmark, writer, n) "
            f"SELECT of, 0, {_RANDOM['sqlite']} FROM (SELECT {benchmark} AS of) "
            "WHERE of IS NOT NULL "
            f"ON CONFLICT (benchmark, writer) DO UPDATE SET n = {TABLE}.n + excluded.n; END"
        ]

    def _postgresql(self) -> list[str]:
        """Once a statement, however many rows it wrote."""
        tables = {"INSERT": "NEW TABLE AS rows_new", "DELETE": "OLD TABLE AS rows_old"}
        tables["UPDATE"] = f"{tables['DELETE']} {tables['INSERT']}"
        sources = {"INSERT": "rows_new r", "DELETE": "rows_old r"}
        sources["UPDATE"] = "rows_new r JOIN rows_old b ON r.id = b.id"
        benchmark = self.watched.benchmark.format(row="r")
        return [
            f"CREATE OR REPLACE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS $$ "
            f"BEGIN INSERT INTO {TABLE} (benchmark, writer, n) "
            f"SELECT of, txid_current(), {_RANDOM['postgresql']} FROM "
            f"(SELECT DISTINCT {benchmark} AS of FROM {sources[self.operation]} "
            f"WHERE {self._counts('r', 'b')}) AS changed WHERE of IS NOT NULL "
            f"ON CONFLICT (benchmark, writer) DO UPDATE SET n = {TABLE}.n + excluded.n; "
            "RETURN NULL; END $$",
            f"CREATE TRIGGER {self.name} AFTER {self.operation} ON {self.table} "
            f"REFERENCING {tables[self.operation]} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {self.name}()",
        ]


_OF_RELEASE = "(SELECT benchmark_id FROM benchmarks_app_release WHERE id = {row}.release_id)"
_OF_SCORE_SET = (
    "(SELECT release.benchmark_id FROM scoring_scoreset AS scored JOIN benchmarks_app_release "
    "AS release ON release.id = scored.release_id WHERE scored.id = {row}.score_set_id)"
)
_OF_PHASE = "(SELECT benchmark_id FROM scoring_phase WHERE id = {row}.phase_id)"

# What pages of boards read of the database, by app; `tests/scoring/boards/test_kept_boards.py`
# finds what is forgotten.
WATCHED: dict[str, list[Watched]] = {
    "benchmarks_app": [
        Watched("benchmarks_app_benchmark", benchmark="{row}.id"),
        Watched("benchmarks_app_release"),
        Watched("benchmarks_app_run"),
        Watched("benchmarks_app_slice"),
        # How many families wait for somebody stands in the menu beside a board.
        Watched("benchmarks_app_queryfamily", only=("is_flagged",), condition="{row}.is_flagged"),
        # Ranks of a large board are on the row of the job that worked them out.
        Watched(
            "benchmarks_app_job",
            condition="{row}.kind = 'board-ranks' AND {row}.state = 'done'",
            only=("state", "result"),
        ),
        Watched(
            "benchmarks_app_user",
            benchmark=str(EVERY_BENCHMARK),
            only=("username", "first_name", "last_name"),
            operations=("UPDATE",),
        ),
        Watched(
            "benchmarks_app_team",
            benchmark=str(EVERY_BENCHMARK),
            only=("name",),
            operations=("UPDATE",),
        ),
    ],
    "scoring": [
        Watched("scoring_scoreset", benchmark=_OF_RELEASE, but=("looked_at",)),
        Watched("scoring_score", benchmark=_OF_SCORE_SET),
        Watched("scoring_ladderstep", benchmark=_OF_SCORE_SET),
        Watched("scoring_phase"),
        # Those that came to nothing are told; how far the others are is not.
        Watched(
            "scoring_submission",
            benchmark=_OF_PHASE,
            but=("job_id",),
            condition="{row}.state IN ('invalid', 'failed')",
        ),
    ],
}


def state_of(benchmark: int) -> int:
    """A number that names the state of what boards of a benchmark read, by its key; one query."""
    return int(states(benchmark).get() or 0)


def states(benchmark: Any) -> QuerySet:
    """One value, as `state_of`, for a part of another query."""
    changes = Change.objects.filter(Q(benchmark=benchmark) | Q(benchmark=EVERY_BENCHMARK))
    # An aggregate would be grouped where it is a part.
    total = Func("n", function="SUM", output_field=BigIntegerField())
    return changes.order_by().annotate(total=total).values_list("total", flat=True)


def public_state_of(slug: str) -> tuple[int, int] | None:
    """Key and state of a public benchmark, by its slug, in one query; None where there is none."""
    statement = (
        "SELECT benchmark.id, (SELECT sum(n) FROM benchmarks_app_change AS change "
        "WHERE change.benchmark IN (benchmark.id, 0)) FROM benchmarks_app_benchmark AS benchmark "
        "WHERE benchmark.slug = %s AND benchmark.visibility = 'public'"
    )
    with connections["default"].cursor() as cursor:
        cursor.execute(statement, [slug])
        row = cursor.fetchone()
    return (row[0], int(row[1] or 0)) if row else None


def change_all(using: str = "default") -> None:
    """Give every benchmark another state: code, or a whole database, has been replaced."""
    connection = connections[using]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {TABLE} (benchmark, writer, n) "
            f"VALUES ({EVERY_BENCHMARK}, 0, {_RANDOM[connection.vendor]}) "
            f"ON CONFLICT (benchmark, writer) DO UPDATE SET n = {TABLE}.n + excluded.n"
        )


def fold(using: str = "default") -> None:
    """Make few rows of those that transactions have written; every sum stays what it is."""
    connection = connections[using]
    if connection.vendor == "postgresql" and Change.objects.using(using).count() > MOST_ROWS:
        with connection.cursor() as cursor:
            cursor.execute(_FOLD)
