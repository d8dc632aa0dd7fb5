"""Rules of the database that no code path may go around, as triggers in SQLite and PostgreSQL.

They are (re)installed after every migration, because SQLite drops a table's triggers when a
migration rebuilds the table.
"""

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from django.apps import AppConfig
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from benchmarks_app.changes import TABLE as CHANGES
from benchmarks_app.changes import WATCHED, ChangeTrigger, change_all
from benchmarks_app.models.audit import SIGN_INS

# Holds a row while a person is forgotten.
FORGETTING = "benchmarks_app_forgetting"


@dataclass(frozen=True)
class Trigger:
    """Refuses `operation` on `table` with `message` where `condition` holds (over OLD and NEW).

    `{same}` in it says that none of the columns `stays` differs, `{forgetting}` that a person is
    being forgotten.
    """

    name: str
    table: str
    operation: str
    message: str
    condition: str = "1 = 1"
    stays: tuple[str, ...] = ()

    def over(self, columns: Collection[str], tables: Collection[str]) -> "Trigger":
        """The trigger of a table of these columns, among these tables.

        They are fewer where migrations were undone, and SQLite changes no table while a trigger
        names another that is not there.
        """
        names = (name for name in self.stays if name in columns)
        same = " AND ".join(f"NEW.{name} IS NOT DISTINCT FROM OLD.{name}" for name in names)
        forgetting = f"EXISTS (SELECT 1 FROM {FORGETTING})" if FORGETTING in tables else "1 = 0"
        return replace(self, condition=self.condition.format(same=same, forgetting=forgetting))

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


def append_only(
    table: str, message: str, stays: tuple[str, ...], may_go: str = "1 = 0"
) -> list[Trigger]:
    """Triggers that keep every row of `table` as it was written; where `may_go` it may be deleted.

    While a person is forgotten, columns that are not in `stays` may differ: they hold what people
    write, and with it a name.
    """
    return [
        Trigger(
            f"{table}_no_update", table, "UPDATE", message,
            "NOT ({forgetting} AND {same})", stays,
        ),
        Trigger(f"{table}_no_delete", table, "DELETE", message, f"NOT ({may_go})"),
    ]  # fmt: skip


_OTHER_BENCHMARK = (
    "(SELECT benchmark_id FROM benchmarks_app_queryfamily WHERE id = NEW.family_id) "
    "<> NEW.benchmark_id"
)
# A published release may be marked as deprecated, once, and nothing else of it may differ then.
_RELEASED = "OLD.state IN ('published', 'deprecated')"
RELEASE_STAYS = (
    *("id", "benchmark_id", "major", "minor", "patch", "qrel_set_id", "corpus_version_id"),
    *("tie_rule", "notes", "folder", "manifest", "parent_id", "label_diff", "step", "options"),
    *("content_sha256", "hidden_splits", "findings", "created_by_id", "published_at"),
    "created_at",
)
# A policy is what was said beforehand: it may be retired, once, and a verdict stays what it was.
POLICY_STAYS = (
    *("id", "benchmark_id", "name", "version", "baseline_id", "content", "digest"),
    *("rehearsal", "created_by_id", "created_at"),
)
VERDICT_STAYS = (
    *("id", "policy_id", "release_id", "candidate_id", "state", "verdict", "report"),
    *("n_waiting", "created_by_id", "created_at", "decided_at", "is_public"),
)

AUDIT_STAYS = ("id", "at", "actor_id", "benchmark_id", "action")
# Of a judgment all but what people write, and whom a file names.
JUDGMENT_STAYS = (
    *("id", "benchmark_id", "query_id", "docid", "kind", "grade", "evidence"),
    *("confidence", "actor_id", "entered_by_id", "outcome", "pool_id", "slot_id", "purpose"),
    *("supersedes_id", "client_id", "guideline_id", "content_hash", "view", "shown_chars"),
    *("shown_position", "dwell_ms", "is_surplus", "created_at"),
)

# A judge is called as people like: its name alone may be one of theirs.
MACHINE_STAYS = (
    *("id", "judgment_id", "campaign_id", "prompt_id", "model", "key", "seed", "parameters"),
    *("probabilities", "raw", "cost", "tokens_in", "tokens_out", "seconds", "is_cached"),
    "answered_at",
)
PROMPT_STAYS = (
    *("id", "benchmark_id", "version", "digest", "guideline_id", "scale", "max_characters"),
    *("created_by_id", "created_at"),
)

_REFUSING: dict[str, list[Trigger]] = {
    "benchmarks_app": [
        *append_only(
            "benchmarks_app_auditevent",
            "audit events are append-only",
            stays=AUDIT_STAYS,
            # Sign-ins are kept for as long as a site wants, all else for good.
            may_go=f"OLD.action IN {SIGN_INS}",
        ),
        Trigger(
            "benchmarks_app_release_no_update",
            "benchmarks_app_release",
            "UPDATE",
            "a published release never changes",
            f"{_RELEASED} AND NOT (OLD.state = 'published' AND NEW.state = 'deprecated' "
            "AND {same})",
            stays=RELEASE_STAYS,
        ),
        Trigger(
            "benchmarks_app_release_no_delete",
            "benchmarks_app_release",
            "DELETE",
            "a published release never changes",
            _RELEASED,
        ),
        Trigger(
            "benchmarks_app_query_stays_exposed",
            "benchmarks_app_query",
            "UPDATE",
            "a query whose grades were public stays exposed",
            "OLD.exposed_at IS NOT NULL AND NEW.exposed_at IS DISTINCT FROM OLD.exposed_at",
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
    "scoring": [
        Trigger(
            "scoring_gatepolicy_no_update",
            "scoring_gatepolicy",
            "UPDATE",
            "a gate policy never changes",
            "NOT (OLD.retired_at IS NULL AND NEW.retired_at IS NOT NULL AND {same})",
            stays=POLICY_STAYS,
        ),
        Trigger(
            "scoring_gatepolicy_no_delete",
            "scoring_gatepolicy",
            "DELETE",
            "a gate policy never changes",
        ),
        Trigger(
            "scoring_gateresult_no_update",
            "scoring_gateresult",
            "UPDATE",
            "the verdict of a gate never changes",
            "OLD.state IN ('decided', 'waiting') AND NOT ({same})",
            stays=VERDICT_STAYS,
        ),
    ],
    "annotation": [
        *append_only(
            "annotation_judgment", "the ledger of judgments is append-only", stays=JUDGMENT_STAYS
        ),
        *append_only(
            "annotation_machinelabel", "what is told of a label is append-only", stays=MACHINE_STAYS
        ),
        Trigger(
            "annotation_judgeprompt_no_update",
            "annotation_judgeprompt",
            "UPDATE",
            "a prompt never changes",
            "NOT ({forgetting} AND {same})",
            stays=PROMPT_STAYS,
        ),
    ],
}


TRIGGERS: dict[str, list[Trigger | ChangeTrigger]] = {
    app: [*refusing, *(trigger for of in WATCHED.get(app, ()) for trigger in of.triggers)]
    for app, refusing in _REFUSING.items()
}


def install_triggers(sender: AppConfig, using: str = "default", **_: Any) -> None:
    """Receiver of `post_migrate`: put the triggers of one app in place.

    On PostgreSQL others may be at work meanwhile, with an earlier version: a trigger that is there
    as it is to be stays untouched, and each other one is replaced in a transaction of its own, so
    that never two tables are locked. SQLite locks all there is, and does it at once.
    """
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    is_one_by_one = connection.vendor == "postgresql"
    digests = _digests(connection) if is_one_by_one else {}
    with nullcontext() if is_one_by_one else transaction.atomic(using=using):
        for trigger in TRIGGERS.get(sender.label, []):
            if trigger.table in tables:
                _install(trigger, tables, connection, digests.get(trigger.name))
        # Other code may show the same rows otherwise.
        if CHANGES in tables:
            change_all(using)


def _digests(connection: BaseDatabaseWrapper) -> dict[str, str | None]:
    """What was written down of each trigger that is there, by its name; None of an older one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgname, obj_description(oid, 'pg_trigger') FROM pg_trigger "
            "WHERE NOT tgisinternal AND pg_table_is_visible(tgrelid)"  # of this schema
        )
        return dict(cursor.fetchall())


def _install(
    trigger: Trigger | ChangeTrigger,
    tables: Collection[str],
    connection: BaseDatabaseWrapper,
    digest: str | None,
) -> None:
    vendor = connection.vendor
    with connection.cursor() as cursor:
        # Names alone: Django's own description parses the statement of the whole table.
        cursor.execute(f"SELECT * FROM {trigger.table} LIMIT 0")
        columns = {column[0] for column in cursor.description}
        statements = trigger.over(columns, tables).statements(vendor)
        wanted_digest = sha256("\n".join(statements).encode()).hexdigest()
        if digest == wanted_digest:
            return
        with transaction.atomic(using=connection.alias):
            cursor.execute(trigger.dropping(vendor))
            for statement in statements:
                cursor.execute(statement)
            if statements and vendor == "postgresql":
                named = f"TRIGGER {trigger.name} ON {trigger.table}"
                cursor.execute(f"COMMENT ON {named} IS '{wanted_digest}'")


def lift_change_triggers(
    sender: AppConfig, using: str = "default", plan: Sequence[Any] = (), **_: Any
) -> None:
    """Receiver of `pre_migrate`: SQLite gives no table a new form while triggers of others name it.

    They come back with the last migration, and nothing that was kept before is shown then.
    """
    connection = connections[using]
    if plan and connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for trigger in (
                each for of in WATCHED.values() for watch in of for each in watch.triggers
            ):
                cursor.execute(trigger.dropping(connection.vendor))


def lift_triggers(using: str = "default") -> None:
    """Take every trigger away; for the test runner, which empties tables between tests."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for triggers in TRIGGERS.values():
            for trigger in triggers:
                cursor.execute(trigger.dropping(connection.vendor))
