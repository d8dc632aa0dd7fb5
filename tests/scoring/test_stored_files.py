"""Files that changed on disk are neither scored nor handed out, whoever asks."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from benchmarks_app import files
from benchmarks_app.backups.services.store_checking import verify_store
from benchmarks_app.common.selectors.reading import release_file_path
from benchmarks_app.files import local_path
from benchmarks_app.models import CorpusVersion, Job, Release
from benchmarks_app.releases.services import exporting
from benchmarks_app.store import digests, file_store
from benchwright.exports import exporter_of
from benchwright.files.errors import StoredFileError, StoredFileMissingError
from benchwright.files.sources import sha256_of
from scoring.models import ScoreSet
from scoring.scores.selectors.runs import per_query_values
from scoring.scores.services.scoring import Target, held_target, score_run
from tests import factories
from tests import world as worlds

pytestmark = pytest.mark.django_db

BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def published() -> Release:
    """A release of a public benchmark whose corpus has texts."""
    bench = factories.tiny_benchmark(visibility="public")
    factories.member(bench, "olga", "owner")
    return factories.release(bench.qrel_sets.get(), by=factories.user("olga"))


def altered(path, before: bytes, after: bytes) -> None:
    """Change bytes of a file where it lies, as a bad disk or a stray hand does."""
    content = path.read_bytes()
    assert before in content
    path.write_bytes(content.replace(before, after, 1))


def damaged_corpus(release: Release) -> CorpusVersion:
    version = release.corpus_version
    path = local_path(version.parquet)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    return version


def test_grade_that_changed_on_disk_is_not_scored(release, tmp_path):
    run = factories.run(release.benchmark, "q1 Q0 d3 1 1.0 s")
    altered(release_file_path(release, "qrels.trec"), b"q1 0 d3 0", b"q1 0 d3 3")

    with pytest.raises(StoredFileError, match=r"qrels\.trec.*not what was stored"):
        score_run(run=run, target=Target.of(release), folder=tmp_path / "scores")

    assert not ScoreSet.objects.exists()


def test_grade_that_changed_on_disk_is_refused_where_the_release_was_held(release):
    held_target(release, "", ())
    altered(release_file_path(release, "qrels.trec"), b"q1 0 d3 0", b"q1 0 d3 3")

    with pytest.raises(StoredFileError):
        held_target(release, "", ())


def test_altered_qrels_are_not_served_under_their_etag(published):
    address = "/b/tiny/releases/1.0.0/files/qrels.trec"
    whole = Client().get(address)
    assert (whole.status_code, len(b"".join(whole))) == (200, int(whole["Content-Length"]))
    path = release_file_path(published, "qrels.trec")
    path.write_bytes(path.read_bytes().replace(b" 0\n", b" 3\n"))

    answer = Client().get(address)

    assert (answer.status_code, answer.get("X-Error-Code")) == (500, "stored-file-altered")
    assert "ETag" not in answer


@pytest.mark.parametrize(
    "address",
    [
        "/b/tiny/releases/1.0.0/export/beir.zip",
        "/b/tiny/releases/1.0.0/beir.zip",
        "/api/v1/benchmarks/tiny/releases/1.0.0/exports/beir/",
        "/api/v1/benchmarks/tiny/releases/1.0.0/exports/hub/",
    ],
)
def test_export_of_a_broken_corpus_is_an_error_before_its_first_byte(published, address):
    damaged_corpus(published)

    answer = Client().get(address)

    assert (answer.status_code, answer.get("X-Error-Code")) == (500, "stored-file-altered")


def test_run_and_its_scores_that_changed_are_not_read(release, tmp_path):
    run = factories.run(release.benchmark, "q1 Q0 d1 1 1.0 s")
    score_set = score_run(run=run, target=Target.of(release), folder=tmp_path / "scores")
    for name in (run.parquet, score_set.per_query):
        path = local_path(name)
        path.write_bytes(path.read_bytes()[:-1] + b"x")

    with pytest.raises(StoredFileError, match=run.parquet):
        exporting.run_zip(run, run.owner)
    with pytest.raises(StoredFileError, match=score_set.per_query):
        per_query_values(score_set)


def test_broken_parent_lets_the_publication_of_the_next_release_fail(published):
    damaged_corpus(published)

    with pytest.raises(AssertionError, match="is not what was stored"):
        factories.release(published.qrel_set, "1.0.1")

    assert Release.objects.count() == 1


def test_command_leaves_no_half_export_of_a_broken_corpus(published, tmp_path):
    damaged_corpus(published)

    with pytest.raises(CommandError, match="restore it from a backup"):
        call_command("export_release", "tiny", "1.0.0", output=tmp_path / "out.zip")

    assert not (tmp_path / "out.zip").exists()


def test_stored_export_that_changed_is_not_sent_and_made_again(published, do_jobs):
    exporter = exporter_of("hub")
    exporting.start_export(user=factories.user("olga"), release=published, format="hub")
    do_jobs()
    path = exporting.stored_export(published, exporter)
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])

    with pytest.raises(StoredFileError, match=r"exports/.*zip of this site is not what was stored"):
        exporting.export_zip(published, exporter)

    exporting.start_export(user=factories.user("olga"), release=published, format="hub")
    do_jobs()
    assert b"".join(exporting.export_zip(published, exporter)) == whole


def test_file_that_is_gone_says_so(published):
    release_file_path(published, "qrels.trec").unlink()

    answer = Client().get("/b/tiny/releases/1.0.0/files/qrels.trec")

    assert (answer.status_code, answer["X-Error-Code"]) == (500, "stored-file-missing")
    with pytest.raises(StoredFileMissingError, match="of this site is gone"):
        release_file_path(published, "qrels.trec")


def test_error_counts_what_depends_on_a_file_and_the_log_names_it(release, tmp_path, caplog):
    run = factories.run(release.benchmark, "q1 Q0 d1 1 1.0 s", name="private one")
    score_run(run=run, target=Target.of(release), folder=tmp_path / "scores")
    altered(local_path(run.parquet), b"PAR1", b"PAR2")

    with pytest.raises(StoredFileError) as caught:
        exporting.run_zip(run, run.owner)

    assert caught.value.n_dependents == 2
    assert f"whole on {run.created_at:%Y-%m-%d %H:%M:%S} UTC" in str(caught.value)
    assert "private one" not in str(caught.value)
    assert f"run private one of {run.benchmark}; scores of private one on" in caplog.text


def test_file_is_read_once_for_its_size_and_time(release, monkeypatch):
    read = []
    monkeypatch.setattr(
        digests, "sha256_of", lambda path: read.append(path.name) or sha256_of(path)
    )
    digests._digest_at.cache_clear()

    for _ in range(3):
        release_file_path(release, "qrels.trec")

    assert read == ["qrels.trec"]


def test_file_whose_time_was_set_back_is_looked_at_anew(release):
    path = release_file_path(release, "qrels.trec")
    whole, at = path.read_bytes(), path.stat()
    altered(path, b"d3 0", b"d3 3")
    os.utime(path, ns=(at.st_atime_ns, at.st_mtime_ns))

    with pytest.raises(StoredFileError):
        release_file_path(release, "qrels.trec")

    path.write_bytes(whole)  # restored with the time that it had
    os.utime(path, ns=(at.st_atime_ns, at.st_mtime_ns))
    assert release_file_path(release, "qrels.trec").read_bytes() == whole


def test_large_file_is_read_once_by_all_processes(monkeypatch):
    content = bytes(digests.REMEMBERED_FROM)
    name = f"runs/1/{hashlib.sha256(content).hexdigest()}.parquet"
    staged = settings.STAGING_DIR / "made"
    staged.write_bytes(content)
    files.publish(staged, name)
    path = settings.MEDIA_ROOT / name
    os.utime(path)  # as a backup does that is played back
    local_path(name)
    digests._digest_at.cache_clear()  # as another process begins
    monkeypatch.setattr(digests, "sha256_of", None)

    assert local_path(name) == path

    monkeypatch.undo()
    path.write_bytes(content[:-1] + b"x")
    with pytest.raises(StoredFileError):
        local_path(name)


def test_large_file_is_not_read_once_more_when_it_was_just_written(monkeypatch):
    content = bytes(digests.REMEMBERED_FROM)
    staged = settings.STAGING_DIR / "made"
    staged.write_bytes(content)
    monkeypatch.setattr(digests, "sha256_of", None)

    name = files.publish(staged, f"uploads/{hashlib.sha256(content).hexdigest()}/a.run")

    assert local_path(name).stat().st_size == len(content)


def test_file_that_is_stored_again_with_its_bytes_is_whole_again():
    for _ in range(2):
        staged = settings.STAGING_DIR / "made"
        staged.write_bytes(b"bytes")
        name = files.publish(staged, f"uploads/{hashlib.sha256(b'bytes').hexdigest()}/a.run")
        assert local_path(name).read_bytes() == b"bytes"
        local_path(name).write_bytes(b"other")


# --- verify_store --------------------------------------------------------------------------


def test_every_stored_file_is_known_with_its_digest(tmp_path):
    worlds.build(files=settings.MEDIA_ROOT)
    paths = [path for path in settings.MEDIA_ROOT.rglob("*") if path.is_file()]
    there = {path.relative_to(settings.MEDIA_ROOT).as_posix() for path in paths}

    known = {stored_file.name: stored_file.sha256 for stored_file in files.stored_files()}

    assert there == set(known)
    assert {name.partition("/")[0] for name in known} >= {"corpora", "logs", "contextual", "leaks"}
    assert {name: files.digest_of(name) for name in known} == known


def test_verify_store_finds_what_kept_its_time_and_names_what_depends_on_it(published, capsys):
    check = verify_store()
    assert (check.broken, check.n_unrecorded) == ([], 0)
    path = release_file_path(published, "qrels.trec")
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b" 0\n", b" 3\n"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    local_path(published.corpus_version.parquet).unlink()

    with pytest.raises(SystemExit, match="1"):
        call_command("verify_store", "--json")

    out, err = capsys.readouterr()
    report = json.loads(out)
    by_file = {row["file"].rpartition("/")[2]: row for row in report["broken"]}
    assert len(by_file) == 2
    assert by_file["qrels.trec"]["problem"].startswith("altered: SHA-256 ")
    assert by_file["qrels.trec"]["whole_at"] == check.started_at.isoformat()
    assert by_file["qrels.trec"]["dependents"] == ["release tiny 1.0.0"]
    corpus = by_file[Path(published.corpus_version.parquet).name]
    assert corpus["problem"] == "gone"
    assert corpus["dependents"] == ["benchmark tiny", "release tiny 1.0.0"]
    assert f"{report['n_files']} of {report['n_files']} files" in err


def test_verify_store_ends_with_0_where_all_is_well(published, capsys):
    call_command("verify_store")

    assert "0 broken" in capsys.readouterr().out


def test_files_that_nothing_names_are_counted_and_swept(published, capsys):
    kept = {file.name for file in files.stored_files()}
    old = timezone.now().timestamp() - 2 * 86400
    names = ["releases/1/77/qrels.trec", f"runs/1/{64 * 'a'}.parquet", f"runs/1/{64 * 'b'}.parquet"]
    for name in names:
        (settings.MEDIA_ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (settings.MEDIA_ROOT / name).write_bytes(b"left")
        os.utime(settings.MEDIA_ROOT / name, (old, old))
    os.utime(settings.MEDIA_ROOT / names[2])  # of today: it may be on its way

    call_command("verify_store", "--json")
    report = json.loads(capsys.readouterr().out)
    job = Job.objects.create(kind="grouping", benchmark=published.benchmark)
    with pytest.raises(CommandError, match="1 job waiting or under way"):
        call_command("verify_store", "--sweep-unneeded")
    job.delete()
    call_command("verify_store", "--sweep-unneeded")
    call_command("sweep")

    assert report["unneeded"] == [{"file": name, "n_bytes": 4} for name in names[:2]]
    assert "a day or longer: 2 files, 8 bytes" in capsys.readouterr().out
    assert [(settings.MEDIA_ROOT / name).exists() for name in names] == [False, False, True]
    assert all(file_store().exists(name) for name in kept)


def test_system_page_shows_the_last_check(published, client):
    client.force_login(factories.user("op", is_staff=True), backend=BACKEND)
    assert "never checked as a whole" in client.get("/system/").content.decode()
    verify_store()
    assert "were whole on" in client.get("/system/").content.decode()
    release_file_path(published, "qrels.trec").unlink()
    verify_store()

    page = client.get("/system/").content.decode()

    assert "1 of " in page
    assert f"{published.folder}/qrels.trec" in page
    assert "Needed by release tiny 1.0.0" in page
