"""A backup is the site as it was at one moment, whole or said not to be, in either database."""

import io
import json
import re
import shutil
import tarfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError, connection, models
from django.utils import timezone

from benchmarks_app import files
from benchmarks_app.backups.services import restoring, table_rows
from benchmarks_app.backups.services.backing_up import back_up
from benchmarks_app.backups.services.restoring import restore
from benchmarks_app.env import env_store
from benchmarks_app.jobs.services.sweeping import sweep
from benchmarks_app.models import (
    AuditEvent,
    Backup,
    Benchmark,
    Job,
    LeftFile,
    Team,
    Upload,
    User,
    WorkerHeartbeat,
)
from benchmarks_app.site_lock import FolderInUseError, SiteLock, at_work
from benchmarks_app.store import file_store
from benchwright.backups.errors import (
    BackupBusyError,
    BackupDamagedError,
    BackupVersionError,
    ForeignFolderError,
    NoBackupError,
    NotMigratedError,
    RowRefusedError,
    RowsDifferError,
    SiteAtWorkError,
)
from benchwright.backups.layout import BackupFolder, write_manifest
from benchwright.backups.lines import rows_in
from benchwright.backups.targets import FolderTarget, TarTarget
from benchwright.backups.verifying import verify
from scoring.models import ReportedScore
from tests import factories
from tests import world as worlds
from tests.databases import VENDORS, site_of_its_own
from tests.object_store import KEYS, ObjectServer

FLOATS = [0.1 + 0.2, -0.0, 5e-324, 1.7976931348623157e308, 1e22]
JSON = {"b": [1, 1.5, 1e22, True, None, 'é \U0001f600 \\ " \n'], "a": {"z": -0.0, "y": 2**53 + 1}}
MICROSECOND = datetime(2026, 1, 2, 3, 4, 5, 1, tzinfo=UTC)


@pytest.fixture
def unblocked(django_db_blocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def place(tmp_path) -> Path:
    return tmp_path / "backups"


@pytest.fixture(params=VENDORS)
def site(request, tmp_path, unblocked) -> Iterator[str]:
    """A site without rows, on each kind of database that there is."""
    with site_of_its_own(tmp_path / "own", request.param):
        yield request.param


@pytest.fixture
def upload(site) -> Upload:
    """A small site: one benchmark, one stored file."""
    bench = factories.benchmark(slug="stdlib")
    factories.member(bench, "olga", "owner")
    return factories.waiting_upload(bench, "a.run", b"q1 Q0 d1 1 1.0 s\n")


def backed_up(place: Path) -> Backup:
    return back_up(FolderTarget(place))


def contents() -> dict[str, tuple[int, str]]:
    """Of every table the number of rows, and what they say."""
    tables = table_rows.tables_of(table_rows.applied_migrations())
    results = {
        name: table_rows.content_of(table, lambda *_: None) for name, table in tables.items()
    }
    results.pop("benchmarks_app_storecheck")  # a restore ends with one
    return results


def stored() -> dict[str, str]:
    return {
        stored_file.name: files.digest_of(stored_file.name) for stored_file in files.stored_files()
    }


# --- there and back ------------------------------------------------------------------------


@pytest.mark.parametrize("source", VENDORS)
def test_every_table_and_file_is_the_same_in_either_database(source, tmp_path, place, unblocked):
    with site_of_its_own(tmp_path / "from", source):
        _furnish()
        backup = backed_up(place)
        before, files_before, raw = contents(), stored(), _raw()
        ids = _next_ids()
    assert (backup.broken, backup.n_files) == ([], len(files_before))
    empty = [name for name, (n, _) in before.items() if not n]
    assert len(empty) < len(before) / 3, empty
    assert verify(BackupFolder(place), BackupFolder(place).snapshots()).damages == []

    for target in VENDORS:
        with site_of_its_own(tmp_path / f"to-{target}", target):
            restored = restore(BackupFolder(place))

            assert (restored.lacking, restored.check.broken) == ([], [])
            assert contents() == before
            assert stored() == files_before
            assert _raw() == raw
            assert _next_ids() == ids + table_rows.GIVEN_SINCE
            with pytest.raises(IntegrityError, match="append-only"):
                AuditEvent.objects.update(action="x")


def _furnish() -> None:
    """Rows of nearly every table, among them values that are easily changed on their way."""
    benchmark = worlds.build(files=settings.MEDIA_ROOT).benchmark
    for n, number in enumerate(FLOATS):
        value = factories.reported(benchmark, User.objects.get(username="olga"), f"float-{n}")
        ReportedScore.objects.filter(pk=value.pk).update(value=number, metadata=JSON)
    Benchmark.objects.filter(pk=benchmark.pk).update(created_at=MICROSECOND)
    # The highest number was given, and is not given again.
    factories.benchmark(slug="gone").delete()
    Backup.objects.create(place="elsewhere", snapshot="")
    # Numbers of which a float has not all digits.
    Job.objects.create(kind="test", parameters={"a": [1e23, 1.2345678901234568e20, -1.5e300]})
    # Whom a group at the provider brought in.
    olga = User.objects.get(username="olga")
    team = Team.objects.create(name="by group")
    team.members.add(olga)
    team.members_by_group.add(olga)


def _raw() -> list[Any]:
    """What the site reads of these."""
    scores = ReportedScore.objects.filter(system__startswith="float-").order_by("system")
    return [
        [(score.value.hex(), score.metadata) for score in scores],
        Benchmark.objects.get(slug="stdlib").created_at,
        [User.objects.get(username="olga").password, User.objects.get(username="olga").is_staff],
    ]


def _next_ids() -> int:
    """The key of the next benchmark, which is not one that was ever given."""
    bench = factories.benchmark(slug="next")
    key = bench.pk
    bench.delete()
    return key


def test_every_kind_of_field_can_be_written():
    """A field of a new kind stops a backup; this stops the change that brings it."""
    fields = [
        field
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.local_concrete_fields
    ]

    assert {table_rows.kind_of(field) for field in fields} <= {
        "number", "float", "text", "moment", "json", "uuid", "address"
    }  # fmt: skip


def test_field_of_an_unknown_kind_is_refused():
    with pytest.raises(KeyError, match="DurationField"):
        table_rows.kind_of(models.DurationField())


# --- what is noticed -----------------------------------------------------------------------


def test_only_new_files_are_copied_and_an_earlier_copy_outlives_damage(upload, place):
    first = backed_up(place)
    factories.waiting_upload(upload.benchmark, "b.run", b"other")
    files.local_path(upload.stored).write_bytes(b"rotten")

    second = backed_up(place)

    assert [(snapshot.n_files, snapshot.n_copied) for snapshot in (first, second)] == [
        (1, 1),
        (2, 1),
    ]
    assert second.broken == []  # the backup has it as it was
    assert verify(BackupFolder(place), BackupFolder(place).snapshots()).damages == []


@pytest.mark.parametrize("kind", ["folder", "stream"])
def test_file_without_a_recorded_digest_is_copied(kind, upload, place, tmp_path, monkeypatch):
    stored = replace(next(files.stored_files(upload.stored)), sha256="")
    keeper = files.Keeper(lambda name: iter([stored]), lambda name: iter([]))
    monkeypatch.setattr(files, "KEEPERS", [keeper])
    stream = tmp_path / "backup.tar"

    if kind == "folder":
        backup = backed_up(place)
    else:
        with stream.open("wb") as out:
            backup = back_up(TarTarget(out, tmp_path))
        with tarfile.open(stream) as tar:
            tar.extractall(place, filter="data")

    assert (backup.n_copied, backup.n_bytes) == (1, upload.size)
    assert [path.name for path in BackupFolder(place).objects()] == [upload.sha256]
    assert verify(BackupFolder(place), BackupFolder(place).snapshots()).damages == []


@pytest.mark.parametrize("how", ["altered", "gone"])
def test_file_that_is_broken_is_named_and_the_command_ends_with_1(how, upload, place, capsys):
    path = files.local_path(upload.stored)
    path.write_bytes(b"rotten") if how == "altered" else path.unlink()

    with pytest.raises(SystemExit, match="1"):
        call_command("backup", str(place), "--json")

    (problem,) = json.loads(capsys.readouterr().out)["broken"]
    assert (problem["file"], problem["what"]) == (upload.stored, "upload a.run")
    assert problem["problem"].startswith(how)
    assert not [path for path in BackupFolder(place).objects() if path.read_bytes() == b"rotten"]
    assert Backup.objects.get().broken == [problem]


def test_whatever_is_altered_or_missing_is_named(upload, place, capsys):
    backed_up(place)
    backed_up(place)
    first, second = BackupFolder(place).snapshots()
    first.rows_of("benchmarks_app_user").write_bytes(b"")
    manifest = second.folder / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"n_rows": 1', b'"n_rows": 2', 1))
    (kept,) = BackupFolder(place).objects()
    kept.write_bytes(kept.read_bytes()[:-2] + b"x\n")

    with pytest.raises(SystemExit, match="1"):
        call_command("verify_backup", str(place), "--json")

    damages = json.loads(capsys.readouterr().out)["damages"]
    assert [
        (damage["snapshot"], damage["what"].split(" (")[0], damage["problem"][:7])
        for damage in damages
    ] == [
        (first.name, "rows of benchmarks_app_user", "altered"),
        (second.name, "manifest.json", "altered"),
        (first.name, upload.stored, "altered"),
    ]
    kept.unlink()
    with pytest.raises(SystemExit, match="1"):
        call_command("verify_backup", str(place), first.name)
    assert f"{kept.name}): missing" in capsys.readouterr().out


def test_whole_backup_is_verified_with_0(upload, place, capsys):
    backed_up(place)

    call_command("verify_backup", str(place))

    n_bytes = file_store().size(upload.stored)
    assert re.fullmatch(
        rf"1 snapshot, \d+ rows, 1 file of {n_bytes} bytes: 0 missing or altered\n",
        capsys.readouterr().out,
    )


def test_kept_file_that_rotted_is_copied_again_once_it_is_removed(upload, place):
    backed_up(place)
    (kept,) = BackupFolder(place).objects()
    kept.write_bytes(b"rotten")
    assert backed_up(place).n_copied == 0
    kept.unlink()

    assert backed_up(place).n_copied == 1
    call_command("verify_backup", str(place))


def test_files_are_for_their_owner_alone(upload, place):
    backed_up(place)

    modes = {path.stat().st_mode & 0o077 for path in place.rglob("*")}
    assert modes == {0}


# --- what breaks off -----------------------------------------------------------------------


class Cut(FolderTarget):
    """Ends in the middle of copying."""

    error: BaseException = KeyboardInterrupt()

    def add(self, *args: Any) -> tuple[str, int]:
        super().add(*args)
        raise self.error


def test_backup_that_is_cut_off_is_none(upload, place):
    with pytest.raises(KeyboardInterrupt):
        back_up(Cut(place))

    assert BackupFolder(place).snapshots() == []
    assert [path.name for path in (place / "snapshots").iterdir()] == []
    row = Backup.objects.get()
    assert (row.finished_at, row.error, row.is_under_way) == (None, "KeyboardInterrupt", False)
    assert not Backup.objects.under_way().exists()
    assert backed_up(place).n_copied == 0  # what was copied is of use


def test_what_a_killed_backup_left_is_no_backup_and_goes_with_the_next(upload, place):
    backed_up(place)
    whole = BackupFolder(place).snapshot()
    half = whole.folder.with_name("20991231T235959.000000Z.part")
    shutil.copytree(whole.folder, half)
    part = place / "objects" / "00"
    part.mkdir(exist_ok=True)
    (part / "half.part").write_bytes(b"half")

    assert BackupFolder(place).snapshot() == whole
    backed_up(place)
    assert not half.exists()
    assert not (part / "half.part").exists()


def test_full_disk_is_said_and_leaves_nothing(upload, place, monkeypatch):
    monkeypatch.setattr(Cut, "error", OSError(28, "No space left on device"))
    monkeypatch.setattr("benchmarks_app.management.commands.backup.FolderTarget", Cut)

    with pytest.raises(CommandError, match="No room is left on the disk") as raised:
        call_command("backup", str(place))

    assert raised.value.returncode == 2
    assert BackupFolder(place).snapshots() == []


def test_database_that_takes_no_row_is_backed_up_all_the_same(upload, place, monkeypatch):
    def full(self: Backup, **_: Any) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(Backup, "save", full)

    assert backed_up(place).n_files == 1


def test_two_backups_into_one_folder_are_one_too_many(upload, place):
    backed_up(place)

    with BackupFolder(place).held(), pytest.raises(BackupBusyError):
        backed_up(place)


def test_folder_with_other_things_in_it_is_left_alone(upload, place):
    place.mkdir()
    (place / "thesis.tex").write_text("")

    with pytest.raises(ForeignFolderError, match=r"thesis\.tex"):
        backed_up(place)

    assert [path.name for path in place.iterdir()] == ["thesis.tex"]


def test_tables_of_an_earlier_version_are_not_backed_up_by_this_one(upload, place):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE name = '0019_backups'")

    with pytest.raises(NotMigratedError, match="0019_backups"):
        backed_up(place)


# --- while others write --------------------------------------------------------------------


@pytest.mark.parametrize("when", ["rows", "files"])
def test_rows_are_of_one_moment_and_their_files_stay(when, upload, place, monkeypatch):
    """Before rows or files are read an upload is removed and another comes: neither is known."""
    later: list[str] = []

    def after_others(read: Any) -> Any:
        def after(*args: Any) -> Any:
            if not later:
                thread = threading.Thread(target=_go_on, args=(upload, later))
                thread.start()
                thread.join()
            return read(*args)

        return after

    if when == "rows":
        monkeypatch.setattr(table_rows, "write_table", after_others(table_rows.write_table))
    else:
        monkeypatch.setattr(FolderTarget, "add", after_others(FolderTarget.add))
    backup = backed_up(place)

    assert later == ["removed", "added"]
    assert (backup.broken, backup.n_files) == ([], 1)
    snapshot = BackupFolder(place).snapshot()
    assert [row[0] for row in rows_in(snapshot.files)] == [upload.stored]
    assert [row[0] for row in rows_in(snapshot.rows_of("benchmarks_app_upload"))] == [upload.pk]
    assert [left.name for left in LeftFile.objects.all()] == [upload.stored]
    assert default_storage.exists(upload.stored)
    sweep()
    assert not default_storage.exists(upload.stored)
    assert not LeftFile.objects.exists()


def _go_on(upload: Upload, later: list[str]) -> None:
    with closing(connection):
        Upload.objects.filter(pk=upload.pk).delete()
        files.remove(upload.stored)
        later.append("removed")
        factories.waiting_upload(upload.benchmark, "later.run", b"later")
        later.append("added")


def test_left_file_that_is_needed_again_stays(upload):
    LeftFile.objects.create(name=upload.stored)

    sweep()

    assert default_storage.exists(upload.stored)
    assert not LeftFile.objects.exists()


def test_file_published_again_is_not_left_any_more(upload):
    LeftFile.objects.create(name=upload.stored)

    factories.waiting_upload(upload.benchmark, "a.run", b"q1 Q0 d1 1 1.0 s\n")

    assert not LeftFile.objects.exists()


def test_silent_backup_holds_no_file_for_ever(upload):
    since = timezone.now() - timedelta(seconds=Backup.SILENT_SECONDS + 1)
    Backup.objects.create(place="x", snapshot="", seen_at=since)

    files.remove(upload.stored)

    assert not default_storage.exists(upload.stored)


# --- restoring -----------------------------------------------------------------------------


def test_restore_wants_an_empty_database_or_its_name(upload, place, capsys):
    backed_up(place)
    User.objects.create(username="later")
    name = Path(str(connection.settings_dict["NAME"])).name

    with pytest.raises(CommandError, match=f"--replace {name}"):
        call_command("restore", str(place))
    with pytest.raises(CommandError, match=f"--replace {name}"):
        call_command("restore", str(place), "--replace", "yes")
    assert User.objects.filter(username="later").exists()
    call_command("restore", str(place), "--replace", name, verbosity=0)

    assert "restored; 0 broken" in capsys.readouterr().out
    assert set(User.objects.values_list("username", flat=True)) == {"keeper", "olga"}


def test_site_at_work_is_not_restored_over(upload, place):
    backed_up(place)
    WorkerHeartbeat.objects.create(name="w1", started_at=timezone.now(), seen_at=timezone.now())

    with pytest.raises(SiteAtWorkError, match="w1"):
        restore(BackupFolder(place), replaced="benchwright.sqlite3")


def test_site_that_runs_is_not_restored_over_and_does_not_start_meanwhile(
    emptied, place, monkeypatch
):
    lock = SiteLock("http://127.0.0.1:8000/")
    with pytest.raises(CommandError, match=r"in use by another site: .* http://127") as raised:
        call_command("restore", str(place), verbosity=0)
    assert raised.value.returncode == 2
    lock.release()

    def restore_while_another_starts(*args: Any, **options: Any) -> Any:
        with pytest.raises(FolderInUseError, match=r"manage\.py restore"):
            SiteLock("http://127.0.0.1:8000/")
        return restore(*args, **options)

    monkeypatch.setattr(
        "benchmarks_app.management.commands.restore.restore", restore_while_another_starts
    )
    call_command("restore", str(place), verbosity=0)
    SiteLock("http://127.0.0.1:8000/").release()


def test_web_server_that_was_started_by_itself_is_not_restored_under(emptied, place, monkeypatch):
    with at_work(), at_work(), pytest.raises(CommandError, match="a web server or") as raised:
        call_command("restore", str(place), verbosity=0)
    assert raised.value.returncode == 2

    def restore_while_one_starts(*args: Any, **options: Any) -> Any:
        with pytest.raises(FolderInUseError, match=r"in use by another site: manage\.py restore"):
            at_work()
        return restore(*args, **options)

    monkeypatch.setattr(
        "benchmarks_app.management.commands.restore.restore", restore_while_one_starts
    )
    call_command("restore", str(place), verbosity=0)
    at_work().close()


@pytest.fixture
def emptied(upload, place) -> Upload:
    """A backup, and the site it is of without its rows and files."""
    backed_up(place)
    call_command("flush", interactive=False, verbosity=0)
    shutil.rmtree(settings.MEDIA_ROOT)
    return upload


def test_damaged_backup_is_refused_before_anything_is_touched(emptied, place):
    (kept,) = BackupFolder(place).objects()
    kept.write_bytes(b"rotten")

    with pytest.raises(BackupDamagedError, match=r"a\.run.*--damaged"):
        restore(BackupFolder(place))
    assert not User.objects.exists()
    restored = restore(BackupFolder(place), may_be_damaged=True)

    assert [problem.split(" (")[0] for problem in restored.lacking] == [emptied.stored]
    assert User.objects.filter(username="olga").exists()


def test_rows_that_are_damaged_are_never_restored(emptied, place):
    BackupFolder(place).snapshot().rows_of("benchmarks_app_user").unlink()

    with pytest.raises(BackupDamagedError, match="rows of benchmarks_app_user: missing"):
        restore(BackupFolder(place), may_be_damaged=True)


def test_restore_that_is_stopped_says_what_is_there_and_what_is_left_to_do(
    emptied, place, monkeypatch, capsys
):
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(SystemExit, match="130"):
        patched.setattr(restoring, "_load", stop)
        call_command("restore", str(place), verbosity=0)
    assert "nothing of the backup is in the database" in capsys.readouterr().err
    assert not User.objects.exists()

    monkeypatch.setattr(restoring, "verify_store", stop)
    with pytest.raises(SystemExit, match="130"):
        call_command("restore", str(place), verbosity=0)
    problem = capsys.readouterr().err
    assert "All rows and files of the backup are back" in problem
    assert "manage.py verify_store" in problem
    assert User.objects.filter(username="olga").exists()


def test_disk_that_is_full_is_that_of_the_site_and_not_that_of_the_backup(
    emptied, place, monkeypatch
):
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(restoring.shutil, "copyfile", full)

    with pytest.raises(CommandError, match="No room is left on the disk") as raised:
        call_command("restore", str(place), verbosity=0)

    assert str(settings.DATA_DIR) in str(raised.value)
    assert str(place) not in str(raised.value)
    assert raised.value.returncode == 2


def test_reading_every_stored_file_says_how_far_it_is(emptied, place):
    sentences: list[str] = []

    restore(BackupFolder(place), say=sentences.append)

    assert sentences[-1] == "read 1 of 1 stored files"


def test_restore_into_a_bucket_leaves_no_more_copies_here_than_there_may_be(
    upload, place, settings, monkeypatch
):
    for n in range(3):
        factories.waiting_upload(upload.benchmark, f"{n}.run", bytes([n]) * 900)
    backed_up(place)
    before = stored()
    call_command("flush", interactive=False, verbosity=0)
    server = ObjectServer()
    for name, value in {**KEYS, "BENCHWRIGHT_STORE": server.url(server.bucket())}.items():
        monkeypatch.setenv(name, value)
    settings.STORE_CACHE_BYTES = 1000
    settings.STORAGES = {**settings.STORAGES, "default": env_store("BENCHWRIGHT_STORE")}

    try:
        restored = restore(BackupFolder(place))

        assert (restored.n_files, restored.check.broken, stored()) == (4, [], before)
        assert file_store().cache.size() <= settings.STORE_CACHE_BYTES
    finally:
        server.stop()


def test_what_jobs_before_had_staged_goes_and_what_they_stored_stays(emptied, place, tmp_path):
    """In a rehearsal beside the site that goes on, its files may be those."""
    staged = [settings.STAGING_DIR / name for name in ("live/7", "downloads/8", "job-9-1")]
    for folder in staged:
        folder.mkdir(parents=True)
        (folder / "answers").write_text("of another")
    digest = "a" * 64
    names = [
        f"exports/releases/1/1.0.0-job9/beir-1/{digest}.zip",
        f"leaks/1/{'b' * 40}/{digest}.json",
        f"runs/1/{digest}.parquet",
    ]
    for name in names:
        path = tmp_path / "file"
        path.write_text("of another")
        file_store().put(path, name, "")

    restore(BackupFolder(place))

    assert [folder for folder in staged if folder.exists()] == []
    assert [name for name in names if not file_store().exists(name)] == []


def test_number_of_what_came_since_the_backup_is_not_given_again(upload, place):
    """A label that waits in a browser is of such a row; the table may have been empty before."""
    backed_up(place)
    since = [Job.objects.create(kind="import-file").pk, factories.benchmark(slug="since").pk]
    call_command("flush", interactive=False, verbosity=0)

    restore(BackupFolder(place))

    later = [Job.objects.create(kind="import-file").pk, factories.benchmark(slug="later").pk]
    assert min(later) > max(since)


def test_job_that_waits_for_others_begins_anew(upload, place):
    """What those have put into the staging folder is in no backup, and no worker beats for it."""
    values = {"state": "running", "token": uuid.uuid4(), "attempt": 1, "started_at": MICROSECOND}
    far = timezone.now() + timedelta(days=3650)
    waiting = Job.objects.create(kind="retrieve", title="Retrieve", heartbeat_at=far, **values)
    running = Job.objects.create(kind="import-file", heartbeat_at=MICROSECOND, **values)
    backed_up(place)
    call_command("flush", interactive=False, verbosity=0)

    restore(BackupFolder(place))

    waiting.refresh_from_db()
    assert (waiting.state, waiting.token, waiting.sent_at) == ("queued", None, None)
    running.refresh_from_db()
    assert running.state == "running"  # the sweeper finds that nobody beats for it


def _rewritten(place: Path, **values: Any) -> None:
    snapshot = BackupFolder(place).snapshot()
    write_manifest(snapshot.folder, {**snapshot.manifest(), **values})


def test_backup_of_a_later_version_is_refused(emptied, place):
    manifest = BackupFolder(place).snapshot().manifest()
    _rewritten(place, migrations=[*manifest["migrations"], ["scoring", "9999_later"]])

    with pytest.raises(BackupVersionError, match=r"later than this program: .*9999_later"):
        restore(BackupFolder(place))


def test_rows_that_arrive_otherwise_are_not_kept(emptied, place, monkeypatch):
    load = table_rows.load_table

    def load_otherwise(table: Any, *args: Any) -> None:
        load(table, *args)
        if table.name == "benchmarks_app_user":
            with connection.cursor() as cursor:
                cursor.execute("UPDATE benchmarks_app_user SET is_staff = NOT is_staff")

    monkeypatch.setattr(table_rows, "load_table", load_otherwise)
    with pytest.raises(RowsDifferError, match="benchmarks_app_user"):
        restore(BackupFolder(place))

    assert not User.objects.exists()
    assert not default_storage.exists(emptied.stored)


def test_rows_that_an_earlier_version_worded_otherwise_are_restored(emptied, place):
    tables = BackupFolder(place).snapshot().manifest()["tables"]
    tables["benchmarks_app_user"]["rows"]["content"] = "of other words"
    _rewritten(place, tables=tables)

    restore(BackupFolder(place))

    assert User.objects.exists()


@pytest.mark.parametrize("site", ["sqlite"], indirect=True)
def test_half_a_character_that_sqlite_took_as_json_stops_no_backup(site, place):
    Job.objects.create(kind="test", parameters={"a": "\ud800"})
    backed_up(place)
    call_command("flush", interactive=False, verbosity=0)

    restore(BackupFolder(place))

    assert Job.objects.get().parameters == {"a": "\ud800"}


def test_unknown_snapshot_is_told_which_there_are(upload, place):
    backup = backed_up(place)

    with pytest.raises(NoBackupError, match=backup.snapshot):
        BackupFolder(place).snapshot("yesterday")
    with pytest.raises(NoBackupError, match="no backup"):
        BackupFolder(place / "nowhere").snapshot()


@pytest.mark.skipif(len(VENDORS) < 2, reason="needs PostgreSQL")
def test_row_that_postgresql_does_not_take_is_named(tmp_path, place, unblocked):
    with site_of_its_own(tmp_path / "from", "sqlite"):
        User.objects.create(username="fits")
        User.objects.create(username="x" * 200)
        backed_up(place)
    with site_of_its_own(tmp_path / "to", "postgresql"):
        with pytest.raises(RowRefusedError, match="row 2 of benchmarks_app_user: value too long"):
            restore(BackupFolder(place))
        assert not User.objects.exists()


# --- as a stream ---------------------------------------------------------------------------


def test_stream_holds_what_the_folder_would(emptied, tmp_path, place, capsysbinary, monkeypatch):
    restore(BackupFolder(place))
    capsysbinary.readouterr()
    call_command("backup", "-", "--json", verbosity=0)
    stream, problem = capsysbinary.readouterr()
    assert json.loads(problem)["n_files"] == 1
    call_command("flush", interactive=False, verbosity=0)
    shutil.rmtree(settings.MEDIA_ROOT)

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stream)))
    call_command("restore", "-", verbosity=0)

    assert User.objects.filter(username="olga").exists()
    assert files.digest_of(emptied.stored) == emptied.sha256
    assert list(settings.STAGING_DIR.iterdir()) == []
    with tarfile.open(fileobj=io.BytesIO(stream)) as tar:
        tar.extractall(tmp_path / "unpacked", filter="data")
    call_command("verify_backup", str(tmp_path / "unpacked"), verbosity=0)


def test_stream_that_ends_early_is_no_backup(site, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))

    with pytest.raises(CommandError, match="standard input is damaged") as raised:
        call_command("restore", "-", verbosity=0)

    assert raised.value.returncode == 2


@pytest.mark.parametrize("n_more", [0, 100, 513])
def test_stream_that_is_cut_short_is_damaged_wherever_it_is_cut(
    n_more, upload, tmp_path, monkeypatch
):
    """Before a member, in its head, in what it holds: tarfile takes the first two for an end."""
    whole = tmp_path / "whole.tar"
    with whole.open("wb") as out:
        back_up(TarTarget(out, tmp_path))
    with tarfile.open(whole) as tar:
        members = tar.getmembers()

    for member in (members[0], members[1], members[-1]):
        cut = io.BytesIO(whole.read_bytes()[: member.offset + n_more])
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(cut))
        with pytest.raises(CommandError, match="backup on standard input is damaged") as raised:
            call_command("restore", "-", verbosity=0)
        assert raised.value.returncode == 2
        assert not list(settings.STAGING_DIR.iterdir())


def test_backup_of_a_later_form_is_not_called_damaged(emptied, place):
    _rewritten(place, format=2, version="benchwright 9.0")

    with pytest.raises(BackupVersionError, match=r"benchwright 9\.0, which is later"):
        restore(BackupFolder(place))
    with pytest.raises(CommandError, match="which is later"):
        call_command("verify_backup", str(place), verbosity=0)


# --- older ones ----------------------------------------------------------------------------


def test_fewer_snapshots_than_are_kept_all_stay(upload, place):
    backed_up(place)

    call_command("backup", str(place), "--keep", "5", verbosity=0)

    assert len(BackupFolder(place).snapshots()) == 2


def test_older_snapshots_go_with_what_they_alone_need(upload, place, capsys):
    backed_up(place)
    Upload.objects.all().delete()
    kept = factories.waiting_upload(upload.benchmark, "b.run", b"other")

    call_command("backup", str(place), "--keep", "1", "--json", verbosity=0)

    assert json.loads(capsys.readouterr().out)["n_removed"] == 1
    assert len(BackupFolder(place).snapshots()) == 1
    assert [path.name for path in BackupFolder(place).objects()] == [kept.sha256]
    call_command("verify_backup", str(place), verbosity=0)


@pytest.mark.parametrize("lost", ["files.jsonl.zst", "manifest.json"])
def test_nothing_is_removed_where_a_snapshot_that_stays_does_not_tell_its_files(
    lost, upload, place
):
    backed_up(place)
    kept = backed_up(place)
    path = BackupFolder(place).snapshot().folder / lost
    path.write_bytes(path.read_bytes()[:40])  # of a list it reads as a shorter one
    Upload.objects.all().delete()

    with pytest.raises(
        CommandError, match=rf"{kept.snapshot} .*(list|manifest).* was written;"
    ) as raised:
        call_command("backup", str(place), "--keep", "2", verbosity=0)

    assert raised.value.returncode == 1
    assert len(BackupFolder(place).snapshots()) == 3
    assert [path.name for path in BackupFolder(place).objects()] == [upload.sha256]


@pytest.mark.parametrize("arguments", [("DIR", "--keep", "0"), ("-", "--keep", "3")])
def test_keep_takes_a_number_and_a_folder(arguments, site):
    with pytest.raises(CommandError, match="--keep takes a number"):
        call_command("backup", *arguments)
