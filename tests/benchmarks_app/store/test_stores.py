"""A folder and an object store do the same; what goes wrong between hosts is told and mended."""

import errno
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from annotation.searching import selectors as searching
from benchmarks_app import files, hosts
from benchmarks_app.backups.services.store_checking import verify_store
from benchmarks_app.collections.services import uploading
from benchmarks_app.env import EnvError, env_store
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job, LeftFile
from benchmarks_app.operating import doctor
from benchmarks_app.store import file_store, objects
from benchmarks_app.store.cache import FileCache
from benchmarks_app.store.errors import StoreAwayError
from benchwright.files.errors import StoredFileError, StoredFileMissingError
from tests import factories
from tests.object_store import KEYS, ObjectServer, proxied

LARGE = os.urandom(1 << 20) * 20  # of three parts


@pytest.fixture(scope="session")
def server():
    server = ObjectServer()
    yield server
    server.stop()


@pytest.fixture
def bucket(server):
    return server.bucket()


@pytest.fixture
def at(settings, monkeypatch):
    """A function that lets the site have its files at an address."""
    for name, value in KEYS.items():
        if name not in os.environ:
            monkeypatch.setenv(name, value)

    def use(url: str) -> None:
        monkeypatch.setenv("BENCHWRIGHT_STORE", url)
        settings.STORAGES = {**settings.STORAGES, "default": env_store("BENCHWRIGHT_STORE")}

    return use


@pytest.fixture
def in_bucket(at, server, bucket):
    at(server.url(bucket))


@pytest.fixture
def with_faults(at, server, bucket, monkeypatch):
    monkeypatch.setattr(objects, "ATTEMPTS", 1)  # the client's own further ones take seconds
    with proxied(server.endpoint) as (endpoint, faults):
        at(server.url(bucket, endpoint=endpoint))
        yield faults


@pytest.fixture(params=["folder", "objects"])
def kept(request):
    """The store of the site, once of each kind."""
    if request.param == "objects":
        request.getfixturevalue("in_bucket")
    return file_store()


@pytest.fixture
def staged(settings):
    """A function that makes a file of these bytes to be published."""

    def make(content: bytes) -> Path:
        path = settings.STAGING_DIR / f"staged-{hashlib.sha256(content).hexdigest()[:8]}"
        path.write_bytes(content)
        return path

    return make


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def forget_copies() -> None:
    """As on a host that has none yet."""
    kept = file_store()
    kept.release()
    for path in (kept.cache.folder / "files").iterdir():
        path.unlink()


# --- the same on both ----------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"few", LARGE], ids=["empty", "few", "parts"])
def test_what_was_put_is_there_whole(kept, staged, content):
    path = staged(content)

    kept.put(path, "runs/1/a b.run", digest(content))

    assert not path.exists()
    assert kept.exists("runs/1/a b.run")
    assert kept.size("runs/1/a b.run") == len(content)
    assert kept.local("runs/1/a b.run", digest(content)).read_bytes() == content
    assert abs(kept.changed_at("runs/1/a b.run") - timezone.now()) < timedelta(minutes=1)
    with kept.opened("runs/1/a b.run") as file:
        assert file.read() == content


def test_part_of_a_file_is_read_where_it_is_asked_for(kept, staged):
    kept.put(staged(LARGE), "large", digest(LARGE))

    with kept.opened("large") as file:
        file.seek(9_000_000)
        middle = file.read(1000)
        file.seek(-10, io.SEEK_END)
        end = file.read()

    assert middle == LARGE[9_000_000:9_001_000]
    assert end == LARGE[-10:]


def test_what_is_not_there(kept):
    kept.delete("nothing")

    assert not kept.exists("nothing")
    assert kept.listed("nowhere") == ([], [])
    for ask in (kept.local, kept.size, kept.changed_at, kept.opened):
        with pytest.raises(FileNotFoundError):
            ask("nothing")


def test_folders_and_files_are_listed_and_deleted(kept, staged):
    for name in ("a/b/one", "a/b/two", "a/three"):
        kept.put(staged(name.encode()), name, "")

    kept.delete("a/b/two")

    assert [sorted(names) for names in kept.listed("a")] == [["b"], ["three"]]
    assert kept.listed("a/b") == ([], ["one"])


def test_copy_has_the_same_bytes(kept, staged):
    kept.put(staged(b"the same"), "uploads/zelda.run", "")

    kept.copy("uploads/zelda.run", "uploads/deleted-1.run")

    assert kept.local("uploads/deleted-1.run").read_bytes() == b"the same"
    assert kept.exists("uploads/zelda.run")


def test_two_who_put_the_same_from_another_disk_do_not_meet(staged, settings, monkeypatch):
    same = [staged(b"the same").replace(settings.STAGING_DIR / name) for name in ("a", "b")]
    rename, copy = Path.replace, shutil.copyfile

    def on_one_disk(path: Path, target: Path) -> Path:
        if path.parent == settings.STAGING_DIR:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(path, target)

    def interrupted(*paths: Path) -> None:
        copy(*paths)
        if same:
            file_store().put(same.pop(), "runs/1.run", "")

    monkeypatch.setattr(Path, "replace", on_one_disk)
    monkeypatch.setattr(shutil, "copyfile", interrupted)

    file_store().put(same.pop(), "runs/1.run", "")

    assert file_store().local("runs/1.run").read_bytes() == b"the same"
    left = file_store().folder / "parts" / "of-a-process-that-was-killed"
    left.touch()
    file_store().sweep()
    assert left.exists()
    os.utime(left, (0, 0))
    file_store().sweep()
    assert list(left.parent.iterdir()) == []


def test_first_content_stays(kept):
    assert kept.put_first("mark", b"mine") == b"mine"
    assert kept.put_first("mark", b"another's") == b"mine"


def test_published_again_keeps_what_is_whole_and_mends_what_is_not(kept, staged, db):
    content = b"qid docid 1"
    name = f"uploads/{digest(content)}/a.run"
    files.publish(staged(content), name)
    kept.put(staged(b"rotten"), name, "")

    files.publish(staged(content), name)
    first = kept.changed_at(name)
    files.publish(staged(content), name)

    assert kept.changed_at(name) == first
    assert files.local_path(name).read_bytes() == content


def test_missing_and_altered_files_are_told_as_what_they_are(kept, staged, db):
    name = f"uploads/{digest(b'right')}/a.run"
    with pytest.raises(StoredFileMissingError):
        files.local_path(name)
    kept.put(staged(b"wrong"), name, digest(b"wrong"))

    with pytest.raises(StoredFileError) as caught:
        files.local_path(name)

    assert (caught.value.found, caught.value.expected) == (digest(b"wrong"), digest(b"right"))


def test_verify_store_reads_past_every_copy(kept, staged, benchmark):
    upload = factories.waiting_upload(benchmark, "a.run", b"first")
    kept.put(staged(b"altered since"), upload.stored, "")
    broken = factories.waiting_upload(benchmark, "b.run", b"second")
    kept.delete(broken.stored)

    check = verify_store()

    problems = {problem["file"]: problem["problem"] for problem in check.broken}
    assert problems[broken.stored] == "gone"
    assert problems[upload.stored].startswith(f"altered: SHA-256 {digest(b'altered since')}")


# --- an object store: what goes wrong ------------------------------------------------------


def test_copy_that_was_altered_on_this_host_is_fetched_anew(in_bucket, staged, caplog):
    file_store().put(staged(b"right"), "a", digest(b"right"))
    file_store().local("a").write_bytes(b"wrong")

    assert file_store().local("a", digest(b"right")).read_bytes() == b"right"
    assert "the copy of a on this host was altered" in caplog.text


# The client begins a torn download anew by itself, five times.
@pytest.mark.parametrize(("fault", "n"), [("torn", 1), ("torn", 6), ("altered", 1)])
def test_download_that_breaks_is_tried_again(with_faults, staged, fault, n):
    file_store().put(staged(b"right" * 1000), "a", digest(b"right" * 1000))
    forget_copies()
    with_faults.begin(fault, n)

    path = file_store().local("a", digest(b"right" * 1000))

    assert path.read_bytes() == b"right" * 1000
    assert with_faults.n_done == n


@pytest.mark.parametrize(("n", "is_given"), [(1, True), (2, True), (3, False)])
def test_part_that_breaks_is_read_again(with_faults, staged, n, is_given):
    file_store().put(staged(b"right" * 1000), "a", digest(b"right" * 1000))
    with_faults.begin("torn", n)

    if is_given:
        assert file_store().read("a", 5, 10) == b"right"
    else:
        with pytest.raises(StoreAwayError):
            file_store().read("a", 5, 10)
    assert with_faults.n_done == n


def test_download_that_stays_wrong_is_refused_and_leaves_nothing(with_faults, staged, db):
    name = f"uploads/{digest(b'right')}/a.run"
    file_store().put(staged(b"right"), name, "")
    forget_copies()
    with_faults.begin("altered", 3)

    with pytest.raises(StoredFileError) as caught:
        files.local_path(name)

    wrong = bytes(255 - byte for byte in b"right")
    assert caught.value.found == digest(wrong)
    assert with_faults.n_done == 3
    assert not [path for path in file_store().cache.folder.rglob("*") if path.suffix == ".part"]
    assert files.local_path(name).read_bytes() == b"right"


def test_file_without_a_recorded_digest_has_one_beside_it(with_faults, staged):
    file_store().put(staged(b"right"), "a", "")
    forget_copies()
    with_faults.begin("altered", 1)

    assert file_store().local("a").read_bytes() == b"right"


def test_upload_that_was_cut_off_is_seen_by_nobody_and_given_up(
    in_bucket, server, bucket, monkeypatch
):
    client = server.client()
    for key in ("site/torn", "site2/of-another-site"):
        client.create_multipart_upload(Bucket=bucket, Key=key)

    # Some servers do not say when an upload was begun.
    monkeypatch.setattr(objects, "TORN_AFTER", timedelta(days=36_500))
    file_store().sweep()
    young = client.list_multipart_uploads(Bucket=bucket).get("Uploads", [])
    file_store()._sweeps_at = 0.0
    monkeypatch.setattr(objects, "TORN_AFTER", -timedelta(days=1))
    file_store().sweep()

    assert not file_store().exists("torn")
    assert len(young) == 2
    (left,) = client.list_multipart_uploads(Bucket=bucket)["Uploads"]
    assert left["Key"] == "site2/of-another-site"


def test_store_that_is_away_is_told_everywhere_and_gives_no_key_away(
    with_faults, staged, db, caplog
):
    with_faults.begin("away", 10_000)
    caplog.set_level("DEBUG", "benchmarks_app")

    with pytest.raises(StoreAwayError, match="does not answer: nothing was read or written"):
        files.publish(staged(b"x"), "a")
    ready = Client().get("/readyz")
    results = [finding for finding in doctor.examined() if finding.part == "storage"]

    assert (ready.status_code, ready.json()["storage"]) == (503, "unavailable")
    assert [result.level for result in results] == ["wrong"]
    assert hosts.store_mark() == ""
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in caplog.text + str(results)
    assert "could not look for a:" in caplog.text


def test_what_is_forgotten_while_the_store_is_away_is_deleted_later(
    with_faults, benchmark, django_capture_on_commit_callbacks
):
    upload = factories.waiting_upload(benchmark, "clicks.jsonl", b"who clicked what")
    with_faults.begin("away", 10_000)

    with django_capture_on_commit_callbacks(execute=True):
        uploading.forget(upload)
    with_faults.kind = None
    was_there = file_store().exists(upload.stored)
    files.remove_left()

    assert was_there
    assert not file_store().exists(upload.stored)
    assert not LeftFile.objects.exists()


def test_check_of_all_files_ends_where_the_store_is_away(with_faults, benchmark):
    factories.waiting_upload(benchmark, "a.run", b"first")
    with_faults.begin("away", 10_000)

    with pytest.raises(StoreAwayError):
        verify_store()


@pytest.fixture
def reading_job(db, monkeypatch, owner, with_faults, staged):
    """A queued job whose handler reads a stored file that is not on this host."""
    file_store().put(staged(b"read me"), "a", "")
    forget_copies()
    read = []
    jobs.load_handlers()
    monkeypatch.setitem(
        jobs.HANDLERS, "read", lambda job: read.append(file_store().local("a").read_bytes())
    )
    job = jobs._create("read", "Read", None, owner, {}, sent_at=timezone.now())
    return job, read


def test_job_waits_for_a_store_that_is_away(reading_job, with_faults):
    job, read = reading_job
    with_faults.begin("away", 10_000)

    for _ in range(4):  # more than the attempts that a job has
        jobs.execute(job.pk, has_heartbeat=False)
    job.refresh_from_db()
    waiting = (job.state, job.attempt, job.message)
    with_faults.kind = None
    jobs.execute(job.pk, has_heartbeat=False)
    job.refresh_from_db()

    assert waiting == (Job.State.QUEUED, 0, "stored files cannot be reached; starting again")
    assert (job.state, read) == (Job.State.DONE, [b"read me"])


def test_job_that_a_store_refuses_is_tried_as_often_as_any(reading_job, monkeypatch):
    job, _ = reading_job

    def refused(*args):
        raise StoreAwayError

    monkeypatch.setattr(objects.ObjectStore, "local", refused)
    for _ in range(3):
        jobs.execute(job.pk, has_heartbeat=False)
    job.refresh_from_db()

    assert (job.state, job.attempt) == (Job.State.FAILED, 3)
    assert job.error == str(StoreAwayError())


def test_hosts_of_two_buckets_have_two_marks(at, server, bucket):
    at(server.url(bucket))
    here = hosts.store_mark()
    at(server.url(bucket, prefix="other"))

    there = hosts.store_mark()

    assert len(here) == 32
    assert here != there


def test_index_of_words_is_made_by_one_host_for_all(in_bucket, db, settings, tmp_path):
    benchmark = factories.texts_benchmark(slug="searched")
    corpus = b'{"_id": "d1", "title": "Soup", "text": "a bowl of soup"}\n'
    settings.SEARCHABLE_MAX_DOCS = 4
    factories.imported(benchmark, corpus, "corpus.jsonl")
    jobs.run_queued()
    settings.DATA_DIR = tmp_path / "other host"
    del file_store().__dict__["cache"]

    documents, _ = searching.found_documents(benchmark, "soup", but=(), number=1)

    assert documents == ["d1"]


def test_operator_is_told_of_the_store_and_of_the_copies_here(
    in_bucket, staged, db, settings, signed_in
):
    settings.METRICS_TOKEN = "read-by-prometheus-alone"
    file_store().put(staged(b"x" * 1000), "a", "")

    page = signed_in(factories.user("operator", is_staff=True)).get("/system/").content.decode()
    figures = Client().get("/metrics", HTTP_AUTHORIZATION=f"Bearer {settings.METRICS_TOKEN}")
    (result,) = [finding for finding in doctor.examined() if finding.part == "storage"]

    # What the doctor has written is gone again, here as well; the mark is read past the copies.
    assert file_store().cached() == (1000, settings.STORE_CACHE_BYTES)
    assert b"benchwright_store_copies_bytes 1000.0" in figures.content
    assert re.search(rb"^benchwright_store_seconds [0-9.]+$", figures.content, re.MULTILINE)
    assert "The store answers in" in page
    assert f"Files are in <code>{file_store().place}</code>" in page
    assert (result.level, result.what.startswith(file_store().place)) == ("fine", True)


# --- the copies of a host ------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path):
    return FileCache(tmp_path / "cache", 1000)


def taken(cache: FileCache, name: str, size: int = 300) -> Path:
    path = cache.partial()
    path.write_bytes(bytes(size))
    return cache.take(path, name)


def test_oldest_used_goes_first_and_the_limit_holds(cache):
    with cache.using():
        for number, name in enumerate(("a.npy", "b", "c")):
            path = taken(cache, name)
            os.utime(cache.folder / "used" / path.name, (number, number))
    with cache.using():
        assert cache.held("a.npy").suffix == ".npy"

    with cache.using():
        taken(cache, "d")

    with cache.using():
        there = [name for name in ("a.npy", "b", "c", "d") if cache.held(name)]
    assert there == ["a.npy", "c", "d"]
    assert cache.size() == 900


def test_nothing_in_use_goes_whatever_the_limit(cache):
    with cache.using():
        paths = [taken(cache, name, size=600) for name in "abc"]

        assert all(path.exists() for path in paths)
        assert cache.size() == 1800
    for number, path in enumerate(paths):
        os.utime(cache.folder / "used" / path.name, (number, number))
    taken(cache, "d")
    assert [path.exists() for path in paths] == [False, False, True]
    assert cache.size() == 900


def test_use_inside_a_use_ends_with_what_it_asked_for(cache):
    with cache.using():
        outer = taken(cache, "a", size=600)
        with cache.using():
            cache.held("a")
            inner = taken(cache, "b", size=600)
        cache.make_room()

        assert (outer.exists(), inner.exists()) == (True, False)


def test_what_another_thread_uses_stays(cache):
    is_taken, is_over = threading.Event(), threading.Event()

    def use() -> None:
        with cache.using():
            taken(cache, "a", size=900)
            is_taken.set()
            is_over.wait(10)

    thread = threading.Thread(target=use)
    thread.start()
    is_taken.wait(10)
    with cache.using():
        taken(cache, "b", size=900)
        is_there = cache.held("a") is not None
    is_over.set()
    thread.join()

    assert is_there


USES_AND_DIES = """
import os, sys
from pathlib import Path
from benchmarks_app.store.cache import FileCache
cache = FileCache(Path(sys.argv[1]), 1000)
path = cache.partial(); path.write_bytes(bytes(900)); cache.take(path, "a")
cache.partial().write_bytes(b"half")
print("taken", flush=True)
sys.stdin.read()
os._exit(1)
"""


def test_mark_of_a_process_counts_until_it_dies(cache):
    command = [sys.executable, "-c", USES_AND_DIES, str(cache.folder)]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    other.stdout.readline()
    with cache.using():
        taken(cache, "b", size=900)
    cache.make_room()
    while_alive = [cache.held(name) is not None for name in "ab"]
    cache.release()

    other.kill()
    other.communicate()
    with cache.using():
        taken(cache, "c", size=900)
    cache.sweep(time.time() + 1)

    assert while_alive == [True, False]
    assert cache.held("a") is None
    assert not list(cache.folder.glob("*.part"))
    assert len(list((cache.folder / "holders").iterdir())) == 1  # this thread's own


def test_request_lets_go_of_what_it_read(in_bucket, staged, db, settings):
    settings.STORE_CACHE_BYTES = 1000
    file_store().put(staged(b"x" * 900), "a", "")
    held = len(file_store().cache._holder().keys)

    Client().get("/healthz")

    assert (held, len(file_store().cache._holder().keys)) == (1, 0)


# --- the address ---------------------------------------------------------------------------


def test_address_says_where_and_never_with_what_key(monkeypatch):
    monkeypatch.setenv("S", "s3://b/some/prefix?endpoint=http://127.0.0.1:9000&region=eu")

    assert env_store("S")["OPTIONS"] == {
        "bucket_name": "b",
        "location": "some/prefix",
        "endpoint_url": "http://127.0.0.1:9000",
        "region_name": "eu",
        "addressing_style": "path",
    }
    monkeypatch.setenv("S", "s3://KEY:SECRET@b/prefix")
    with pytest.raises(EnvError, match="AWS_ACCESS_KEY_ID") as caught:
        env_store("S")
    assert "SECRET@" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["gs://b", "s3://", "/data/files", "s3://b?endpoint=ftp://x", "s3://b?acl=public"]
)
def test_other_addresses_are_refused_with_what_is_accepted(monkeypatch, url):
    monkeypatch.setenv("S", url)

    with pytest.raises(EnvError, match=r"accepted: s3://bucket/prefix"):
        env_store("S")


def test_address_without_the_extra_says_what_to_install(monkeypatch):
    monkeypatch.setenv("S", "s3://b/prefix")
    monkeypatch.setattr("benchmarks_app.env.find_spec", lambda name: None)

    with pytest.raises(EnvError, match=r"pip install 'benchwright\[s3\]'"):
        env_store("S")


def test_nothing_of_the_extra_is_loaded_where_files_are_in_a_folder():
    asked = "import django, sys; django.setup(); print({'boto3', 'storages'} & {*sys.modules})"
    env = {key: value for key, value in os.environ.items() if key != "BENCHWRIGHT_STORE"}
    env["DJANGO_SETTINGS_MODULE"] = "benchmarks_app.settings"

    done = subprocess.run(
        [sys.executable, "-c", asked], env=env, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "set()"


def test_a_file_has_its_name_once_its_bytes_are_on_the_disk_and_then_the_name_is(
    tmp_path, settings, monkeypatch
):
    settings.STORAGES = {**settings.STORAGES, "default": env_store("BENCHWRIGHT_STORE")}
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()
    staged = tmp_path / "staged"
    staged.write_bytes(b"content")
    of, synced = os.fsync, []

    def fsync(number):
        path = Path(f"/proc/self/fd/{number}").readlink()
        names = sorted(str(each.relative_to(tmp_path)) for each in path.glob("*"))
        synced.append((str(path.relative_to(tmp_path)), names))
        of(number)

    monkeypatch.setattr(os, "fsync", fsync)
    store = file_store()
    store.put(staged, "runs/1/run", "")
    store.copy("runs/1/run", "runs/2")
    first = store.put_first("lock", b"mine")

    assert first == b"mine"
    assert synced[:4] == [
        ("files", ["files/runs"]),
        ("files/runs", ["files/runs/1"]),
        ("staged", []),
        ("files/runs/1", ["files/runs/1/run"]),
    ]
    assert synced[4][0].startswith("files/parts/")
    assert synced[5] == ("files/runs", ["files/runs/1", "files/runs/2"])
    assert synced[6][0].startswith("files/lock-")
    assert synced[7:] == [("files", ["files/lock", "files/parts", "files/runs"])]
