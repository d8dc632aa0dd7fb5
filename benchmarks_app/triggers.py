"""Rules of the database that no code path may go around, as triggers in SQLite and PostgreSQL.

They are (re)installed after every migration, because SQLite drops a table's triggers when a
migration rebuilds the table.
"""

from dataclasses import dataclass
from typing import Any

from django.apps import AppConfig
from django.db import connections, transaction


@dataclass(frozen=True)
class Trigger:
    """Refuses `operation` on `table` with `message` where `condition` holds (over OLD and NEW)."""

    name: str
    table: str
    operation: str
    message: str
    condition: str = "1 = 1"

    def statements(self, vendor: str) -> list[str]:
        return self._postgresql() if vendor == "postgresql" else self._sqlite()

    def dropping(self, vendor: str) -> str:
        on_table = f" ON {self.table}" if vendor == "postgresql" else ""
        return f"DROP TRIGGER IF EXISTS {self.name}{on_table}"

    def _sqlite(self) -> list[str]:
        return [
            f"CREATE TRIGGER {self.name} BEFORE {self.operation} ON {self.table} "
            f"WHEN {self.condition} BEGIN SELECT RAISE(ABORT, '{self.message}'); END"
        ]

    def _postgresql(self) -> list[str]:
        row = "OLD" if self.operation == "DELETE" else "NEW"
        return [
            f"CREATE OR REPLACE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS $$ "
            f"BEGIN IF {self.condition} THEN RAISE EXCEPTION '{self.message}' "
            f"USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN {row}; END $$",
            f"CREATE TRIGGER {self.name} BEFORE {self.operation} ON {self.table} "
            f"FOR EACH ROW EXECUTE FUNCTION {self.name}()",
        ]


def append_only(table: str, message: str, condition: str = "1 = 1") -> list[Trigger]:
    """Triggers that keep every row of `table` (where `condition` holds) as it was written."""
    return [
        Trigger(f"{table}_no_{operation.lower()}", table, operation, message, condition)
        for operation in ("UPDATE", "DELETE")
    ]


_OTHER_BENCHMARK = (
    "(SELECT benchmark_id FROM benchmarks_app_queryfamily WHERE id = NEW.family_id) "
    "<> NEW.benchmark_id"
)
TRIGGERS: dict[str, list[Trigger]] = {
    "benchmarks_app": [
        *append_only("benchmarks_app_auditevent", "audit events are append-only"),
        *append_only(
            "benchmarks_app_release",
            "a published release never changes",
            "OLD.state = 'published'",
        ),
        *[
            Trigger(
                f"benchmarks_app_query_family_{operation.lower()}",
                "benchmarks_app_query",
                operation,
                "a query and its family belong to one benchmark",
                _OTHER_BENCHMARK,
            )
            for operation in ("INSERT", "UPDATE")
        ],
        Trigger(
            "benchmarks_app_queryfamily_stays",
            "benchmarks_app_queryfamily",
            "UPDATE",
            "a family stays in its benchmark",
            "NEW.benchmark_id <> OLD.benchmark_id",
        ),
    ],
    "annotation": append_only("annotation_judgment", "the ledger of judgments is append-only"),
}


def install_triggers(sender: AppConfig, using: str = "default", **_: Any) -> None:
    """Receiver of `post_migrate`: put the triggers of one app in place."""
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    with transaction.atomic(using=using), connection.cursor() as cursor:
        for trigger in TRIGGERS.get(sender.label, []):
            if trigger.table in tables:
                cursor.execute(trigger.dropping(connection.vendor))
                for statement in trigger.statements(connection.vendor):
                    cursor.execute(statement)


def lift_triggers(using: str = "default") -> None:
    """Take every trigger away; for the test runner, which empties tables between tests."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for triggers in TRIGGERS.values():
            for trigger in triggers:
                cursor.execute(trigger.dropping(connection.vendor))
