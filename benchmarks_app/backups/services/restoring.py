"""A backup put back: tables of the version that wrote it, its rows and files, then this version.

All that is needed of the backup is read and checked before anything is touched; rows come in one
transaction, and are read back and held against the backup before it ends.
"""

import logging
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from benchmarks_app import files
from benchmarks_app.backups.services import table_rows
from benchmarks_app.backups.services.store_checking import verify_store
from benchmarks_app.backups.services.table_rows import Table
from benchmarks_app.common.services.analysing import analyse
from benchmarks_app.jobs.services.sweeping import KEPT_FOR_LATER
from benchmarks_app.models import Job, StoreCheck, WorkerHeartbeat
from benchmarks_app.store import file_store
from benchmarks_app.triggers import lift_triggers
from benchwright.backups.errors import (
    BackupDamagedError,
    BackupVersionError,
    NotEmptyError,
    RowsDifferError,
    SiteAtWorkError,
)
from benchwright.backups.layout import BackupFolder, Snapshot
from benchwright.backups.lines import rows_in
from benchwright.backups.verifying import Verdict, verify
from benchwright.files.sources import sha256_of

log = logging.getLogger(__name__)

# What `migrate` makes by itself: a database that has no more than this is empty.
MADE_BY_MIGRATE = ("auth_permission", "django_content_type")
DAMAGES_TOLD = 3
Say = Callable[[str], None]


@dataclass(frozen=True)
class Restored:
    """What was put back: `lacking` are files that the backup has not, or not whole."""

    snapshot: str
    n_tables: int
    n_rows: int
    n_files: int
    n_bytes: int
    lacking: list[str]
    check: StoreCheck


def restore(
    folder: BackupFolder,
    name: str = "",
    *,
    replaced: str = "",
    may_be_damaged: bool = False,
    say: Say = lambda text: None,
    when_loaded: Callable[[], object] = lambda: None,
) -> Restored:
    """Put a snapshot (the newest, unless named) into the database and the storage of this site.

    `replaced` is the name of a database whose content may be deleted. `may_be_damaged` takes a
    backup whose rows are whole and whose files are not. `when_loaded` is called once all rows and
    files are there for good.

    Raises
    ------
    BackupError
        Then nothing was restored; a database that was to be replaced may be empty.
    """
    snapshot = folder.snapshot(name)
    with folder.held(for_reading=True):
        verdict = _verified(folder, snapshot, may_be_damaged, say)
        manifest = snapshot.manifest()
        migrations = _known(manifest)
        is_empty = _is_empty(replaced)
        with _placed(folder, snapshot, verdict, say) as (n_files, n_bytes):
            if not (is_empty and table_rows.applied_migrations() == migrations):
                _drop_tables()
                _migrate_to(migrations, say)
            n_rows = _load(snapshot, manifest, migrations, say)
        when_loaded()
        _clear_staging()
    say("migrating to this version")
    call_command("migrate", verbosity=0, interactive=False)
    ContentType.objects.clear_cache()
    _begin_anew()
    analyse()
    broken = [f"{row['file']}: {row['problem']}" for row in manifest["broken"]]
    return Restored(
        snapshot=snapshot.name,
        n_tables=len(manifest["tables"]),
        n_rows=n_rows,
        n_files=n_files,
        n_bytes=n_bytes,
        lacking=[*broken, *map(str, verdict.damages)],
        check=verify_store(lambda n, n_all, n_bytes: say(f"read {n:,} of {n_all:,} stored files")),
    )


# --- what is restored ----------------------------------------------------------------------


def _verified(folder: BackupFolder, snapshot: Snapshot, may_be_damaged: bool, say: Say) -> Verdict:
    say(f"reading backup {snapshot.name}")
    verdict = verify(folder, [snapshot], lambda n, n_all: say(f"read {n:,} of {n_all:,} files"))
    if all(damage.is_file and may_be_damaged for damage in verdict.damages):
        return verdict
    damages = "; ".join(map(str, verdict.damages[:DAMAGES_TOLD]))
    more = len(verdict.damages) - DAMAGES_TOLD
    problems = f"{damages}; and {more:,} more" if more > 0 else damages
    raise BackupDamagedError(name=snapshot.name, problems=problems)


def _known(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    """The migrations that a backup was written at.

    Raises
    ------
    BackupVersionError
        If this program does not have one of them, or makes other tables of them.
    """
    migrations = [(app, name) for app, name in manifest["migrations"]]
    nodes = MigrationLoader(None, ignore_no_migrations=True).graph.nodes
    if unknown := [".".join(node) for node in migrations if node not in nodes]:
        what = f"the migration {unknown[0]} is not known here"
        raise BackupVersionError(version=manifest["version"], what=what)
    tables = table_rows.tables_of(migrations)
    for name, facts in manifest["tables"].items():
        if name not in tables or set(facts["columns"]) != set(tables[name].kinds):
            what = f"the table {name} has other columns here"
            raise BackupVersionError(version=manifest["version"], what=what)
    return migrations


# --- where it is restored ------------------------------------------------------------------


def database_name() -> str:
    """What the database is called: of SQLite the name of its file."""
    name = str(connection.settings_dict["NAME"])
    return Path(name).name if connection.vendor == "sqlite" else name


def _is_empty(replaced: str) -> bool:
    """Whether there are no rows; where there are some, the database is the one to be replaced.

    Raises
    ------
    SiteAtWorkError, NotEmptyError
    """
    there = set(connection.introspection.table_names())
    if WorkerHeartbeat._meta.db_table in there:
        alive = WorkerHeartbeat.objects.alive().values_list("name", flat=True)
        if workers := ", ".join(alive):
            raise SiteAtWorkError(workers=workers)
    ignored = (*MADE_BY_MIGRATE, *table_rows.LEFT_OUT)
    counted = (name for name in _own_tables() & there if not name.startswith(ignored))
    filled = [name for name in sorted(counted) if _has_rows(name)]
    if filled and replaced != database_name():
        raise NotEmptyError(database=database_name(), found=f"rows in {filled[0]}")
    return not filled


def _has_rows(name: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT 1 FROM {connection.ops.quote_name(name)} LIMIT 1")
        return cursor.fetchone() is not None


def _own_tables() -> set[str]:
    """Every table that the applied migrations have made, and those of this version."""
    loader = MigrationLoader(connection)
    applied = [node for node in loader.applied_migrations if node in loader.graph.nodes]
    models = loader.project_state(applied).apps.get_models(include_auto_created=True)
    tables = {model._meta.db_table for model in models}
    return tables | set(connection.introspection.django_table_names(only_existing=True))


def _drop_tables() -> None:
    """Drop the site's tables; others in the same database stay."""
    there = connection.introspection.table_names()
    own = _own_tables() | {MigrationRecorder.Migration._meta.db_table}
    names = sorted(connection.ops.quote_name(name) for name in own.intersection(there))
    with _without_checks(), transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql" and names:
            cursor.execute(f"DROP TABLE {', '.join(names)} CASCADE")
        elif names:
            for name in names:
                cursor.execute(f"DROP TABLE {name}")


def _migrate_to(migrations: list[tuple[str, str]], say: Say) -> None:
    """Make the tables of a version; triggers and permissions come with the last migration."""
    say("making the tables")
    executor, wanted_names = MigrationExecutor(connection), set(migrations)
    targets = executor.loader.graph.leaf_nodes()
    plan = executor.migration_plan(targets)
    executor.migrate(
        targets, [step for step in plan if (step[0].app_label, step[0].name) in wanted_names]
    )


@contextmanager
def _without_checks() -> Iterator[None]:
    """Let SQLite take rows and drop tables in any order; it can be told so between transactions."""
    is_off = connection.vendor == "sqlite" and connection.disable_constraint_checking()
    try:
        yield
    finally:
        if is_off:
            connection.enable_constraint_checking()


# --- rows ----------------------------------------------------------------------------------


def _load(
    snapshot: Snapshot, manifest: dict[str, Any], migrations: list[tuple[str, str]], say: Say
) -> int:
    """Put all rows in, and read them back; how many there are."""
    known_tables = table_rows.tables_of(migrations)
    tables = [
        # In the order of the backup, by which its rows are counted.
        replace(
            known_tables[name],
            kinds={column: known_tables[name].kinds[column] for column in facts["columns"]},
        )
        for name, facts in manifest["tables"].items()
    ]
    facts_of = manifest["tables"]

    def tell(name: str, n: int) -> None:
        say(f"{n:,} rows put into {name}")

    with _without_checks(), transaction.atomic():
        lift_triggers()  # they come back with the last migration
        with _without_foreign_keys(tables):
            for table in tables:
                _empty(table)
                table_rows.load_table(table, snapshot, tell)
                table_rows.go_on_after(table, facts_of[table.name]["last_number"])
        connection.check_constraints()
        for table in tables:
            _compare(table, facts_of[table.name]["rows"], snapshot, say)
    return sum(facts["rows"]["n_rows"] for facts in facts_of.values())


def _empty(table: Table) -> None:
    """Remove what migrations have put in by themselves."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {connection.ops.quote_name(table.name)}")


def _compare(table: Table, facts: dict[str, Any], snapshot: Snapshot, say: Say) -> None:
    content = table_rows.content_of(table, lambda name, n: say(f"{n:,} rows of {name} read back"))
    if content == (facts["n_rows"], facts["content"]):
        return
    # An earlier version may have worded numbers of JSON otherwise.
    if content != table_rows.content_in(table, snapshot):
        raise RowsDifferError(n_rows=content[0], table=table.name, expected=facts["n_rows"])


@contextmanager
def _without_foreign_keys(tables: list[Table]) -> Iterator[None]:
    """On PostgreSQL, drop them and make them again: checked all at once, and not row by row."""
    if connection.vendor != "postgresql":
        yield
        return
    quote = connection.ops.quote_name
    names = [table.name for table in tables]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, conname, pg_get_constraintdef(pg_constraint.oid) FROM pg_constraint "
            "JOIN pg_class ON pg_class.oid = conrelid "
            "WHERE contype = 'f' AND relname = ANY(%s) AND pg_table_is_visible(conrelid)",
            [names],
        )
        foreign_keys = cursor.fetchall()
        for table, name, _ in foreign_keys:
            cursor.execute(f"ALTER TABLE {quote(table)} DROP CONSTRAINT {quote(name)}")
        yield
        for table, name, definition in foreign_keys:
            cursor.execute(f"ALTER TABLE {quote(table)} ADD CONSTRAINT {quote(name)} {definition}")


# --- files ---------------------------------------------------------------------------------


@contextmanager
def _placed(
    folder: BackupFolder, snapshot: Snapshot, verdict: Verdict, say: Say
) -> Iterator[tuple[int, int]]:
    """Put the files where rows will look for them: how many, and their bytes; back if rows fail."""
    lost = {damage.what.partition(" (objects/")[0] for damage in verdict.damages}
    n_files = n_bytes = 0
    new: list[str] = []
    staged = settings.STAGING_DIR / f"restore-{uuid.uuid4().hex}"
    staged.mkdir(parents=True)
    try:
        for name, sha256, size, _ in rows_in(snapshot.files):
            if name in lost:
                continue
            is_there = file_store().exists(name)
            if not is_there or files.digest_of(name) != sha256:
                file_store().delete(name)
                path = staged / "file"
                shutil.copyfile(folder.object_path(sha256), path)
                if sha256_of(path) != sha256:  # changed since it was verified
                    raise BackupDamagedError(name=snapshot.name, problems=f"{name}: altered")
                with file_store().using():  # nothing of a copy on this host is needed
                    files.publish(path, name, sha256)
                path.unlink(missing_ok=True)
                new += [] if is_there else [name]
            n_files, n_bytes = n_files + 1, n_bytes + size
            say(f"{n_files:,} files put back, {n_bytes / 1e6:,.1f} MB")
        yield n_files, n_bytes
    except BaseException:
        for name in new:
            file_store().delete(name)
        raise
    finally:
        shutil.rmtree(staged, ignore_errors=True)


# --- what is not in the backup -------------------------------------------------------------


def _clear_staging() -> None:
    """Remove what jobs of a site that was here have staged for later ones."""
    for path in settings.STAGING_DIR.iterdir():
        if path.name.startswith(KEPT_FOR_LATER):
            shutil.rmtree(path, ignore_errors=True)


def _begin_anew() -> None:
    """Let jobs that waited for jobs of their own begin anew: what these had staged is gone."""
    now = timezone.now()
    waiting = Job.objects.filter(state=Job.State.RUNNING, heartbeat_at__gt=now)
    waiting.update(
        state=Job.State.QUEUED,
        token=None,
        sent_at=None,
        heartbeat_at=now,
        message="starting again",
    )
