"""Home, health, readiness, the operator's page."""

import html
import socket
import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db import DatabaseError, OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmarks_app import migrated
from benchmarks_app.models import Backup, Benchmark, Job, Run, User, WorkerHeartbeat
from benchmarks_app.site import selectors as site_selectors
from tests import factories


def bare_run(benchmark, name: str, owner: User, **values) -> Run:
    """A run's row without its file."""
    return Run.objects.create(
        benchmark=benchmark,
        name=name,
        owner=owner,
        sha256="0" * 64,
        parquet="none",
        n_rows=1,
        n_queries=1,
        depth=1,
        **values,
    )


def job(benchmark, user, **values) -> Job:
    values.setdefault("title", "Import corpus")
    return Job.objects.create(kind="test", benchmark=benchmark, created_by=user, **values)


@pytest.fixture
def operator(db):
    return factories.user("operator", is_staff=True)


# --- home ----------------------------------------------------------------------------------


def test_home_counts_queries_runs_and_pools(benchmark, owner):
    other = factories.benchmark(slug="more")
    for of, n in [(benchmark, 3), (other, 2)]:
        for number in range(n):
            factories.query(of)
            bare_run(of, f"run{number}", owner)
            of.pools.create(name=f"pool{number}", seed=1, created_by=owner, state="open")
    benchmark.pools.create(name="unfinished", seed=1, created_by=owner)
    factories.query(benchmark, staged_by=job(benchmark, owner))

    record = site_selectors.home_benchmarks(owner).get(pk=benchmark.pk)

    assert (record.n_queries, record.n_runs, record.n_pools, record.role) == (3, 3, 3, "owner")


def test_home_does_not_count_runs_one_may_not_see(benchmark, owner, vi):
    bare_run(benchmark, "secret", owner, visibility=Run.Visibility.OWNER)
    bare_run(benchmark, "open", owner)

    assert site_selectors.home_benchmarks(vi).get().n_runs == 1


def test_home_shows_own_benchmarks_before_public_ones_and_no_private_ones(signed_in, ada, cy):
    public = factories.benchmark(slug="aaa", name="Aaa", visibility="public")

    page = signed_in(ada).get("/").content.decode()

    assert page.index("Standard library") < page.index(public.get_absolute_url())
    assert "/b/other/" not in page


def test_home_of_a_stranger_shows_public_benchmarks_only(client, benchmark, owner):
    Benchmark.objects.filter(pk=benchmark.pk).update(visibility="public")
    factories.benchmark(slug="hidden")
    bare_run(benchmark, "secret", owner, visibility=Run.Visibility.OWNER)

    page = client.get("/").content.decode()

    assert "Standard library" in page
    assert "/b/hidden/" not in page
    assert site_selectors.home_benchmarks(AnonymousUser()).get().n_runs == 0


def test_empty_home_says_how_to_begin(signed_in, db):
    page = signed_in(factories.user("new")).get("/").content.decode()

    assert "Make your first benchmark" in page
    assert reverse("benchmark-new") in page


def test_home_shows_unfinished_jobs_of_mine_and_of_benchmarks_i_edit(
    signed_in, benchmark, owner, ada, cy
):
    job(benchmark, ada, title="Ada's own")
    job(benchmark, ada, title="Already done", state="done")
    job(cy.memberships.get().benchmark, cy, title="Not theirs")

    for person in (owner, ada):
        page = signed_in(person).get("/").content.decode()
        assert "Ada&#x27;s own" in page
        assert "Already done" not in page
        assert "Not theirs" not in page


def test_annotator_does_not_see_jobs_of_others(signed_in, benchmark, owner, ada):
    job(benchmark, owner, title="Import of the owner")

    assert "Import of the owner" not in signed_in(ada).get("/").content.decode()


@pytest.mark.parametrize(
    ("role", "view"),
    [("annotator", "annotation:judge-benchmark"), ("submitter", "scoring:submission-new")],
)
def test_home_offers_the_work_of_the_role(signed_in, benchmark, role, view):
    person = factories.member(benchmark, "max", role)

    assert reverse(view, args=[benchmark.slug]) in signed_in(person).get("/").content.decode()


@pytest.mark.parametrize("n", [2, 20])
def test_home_asks_as_often_for_20_benchmarks_as_for_2(db, signed_in, n):
    person = factories.user("many")
    for number in range(n):
        of = factories.benchmark(slug=f"b{number}")
        factories.member(of, "many", "owner")
        factories.query(of)
        job(of, person)
    client = signed_in(person)

    with CaptureQueriesContext(connection) as queries:
        answer = client.get("/")

    assert f"/b/b{n - 1}/" in answer.content.decode()
    assert len(queries) == 5, [query["sql"] for query in queries]


def test_home_is_paged(db, signed_in):
    person = factories.user("many")
    for number in range(30):
        factories.member(factories.benchmark(slug=f"b{number:02}"), "many", "owner")

    page = signed_in(person).get("/?page=2").content.decode()

    assert "/b/b29/" in page
    assert "/b/b00/" not in page


READY = dict.fromkeys(("database", "migrations", "storage", "broker", "hosts"), "ok")


# --- health --------------------------------------------------------------------------------


def test_healthz_asks_no_database(client, django_assert_num_queries, db):
    with django_assert_num_queries(0):
        assert client.get("/healthz").content == b"ok\n"


def test_readyz_is_200_when_database_storage_and_broker_answer(client, db):
    answer = client.get("/readyz")

    assert (answer.status_code, answer.json()) == (200, READY)


@pytest.mark.parametrize("gone", ["redis://127.0.0.1:1/0", "amqp://guest@127.0.0.1:1//"])
def test_readyz_is_503_when_the_broker_is_gone(client, db, settings, caplog, gone):
    settings.CELERY_BROKER_URL, settings.CELERY_BROKER_TRANSPORT_OPTIONS = gone, {}

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json() == READY | {"broker": "unavailable"}
    assert "the broker does not answer" in caplog.text


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_readyz_does_not_wait_for_a_broker_that_says_nothing(client, db, settings, scheme):
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {}
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.CELERY_BROKER_URL = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/0"
        began = time.monotonic()

        answer = client.get("/readyz")

    assert answer.json()["broker"] == "unavailable"
    assert time.monotonic() - began < 20


def test_readyz_is_503_without_the_folder_of_messages(client, db, settings, tmp_path):
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_out": str(tmp_path / "gone")}

    assert client.get("/readyz").json()["broker"] == "unavailable"


def test_readyz_is_503_when_the_database_does_not_answer(client, db, monkeypatch, caplog):
    class Gone:
        def cursor(self):
            raise DatabaseError("secret-host refused")

    monkeypatch.setattr(site_selectors, "connection", Gone())

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json() == READY | {"database": "unavailable", "hosts": "unknown"}
    assert "secret-host" in caplog.text


def test_readyz_is_503_without_the_folder_of_files(client, db, settings):
    settings.MEDIA_ROOT.rmdir()

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["storage"] == "unavailable"


@pytest.fixture
def behind(monkeypatch):
    """A database that two migrations were not applied to."""
    monkeypatch.setattr(migrated, "_migrations", lambda: frozenset([("a", "1"), ("b", "2")]))


def test_readyz_is_503_before_the_database_is_migrated(client, db, behind, caplog):
    answer = client.get("/readyz")

    missing = {"migrations": "unavailable", "hosts": "unknown"}
    assert (answer.status_code, answer.json()) == (503, READY | missing)
    assert "2 migrations have not been applied. Run `manage.py migrate`" in caplog.text


@pytest.mark.parametrize("address", ["/", "/api/v1/benchmarks/"])
def test_page_that_lacks_a_table_says_what_is_to_be_done(client, db, behind, monkeypatch, address):
    def lacks(*args):
        raise OperationalError("no such table: benchmarks_app_benchmark")

    monkeypatch.setattr(site_selectors, "home_benchmarks", lacks)
    monkeypatch.setattr("benchmarks_app.collections.api.BenchmarkList.get", lacks)

    answer = client.get(address)

    assert (answer.status_code, answer["X-Error-Code"]) == (503, "not-migrated")
    assert b"manage.py migrate" in answer.content


# --- system --------------------------------------------------------------------------------


def test_system_page_is_for_staff(client, signed_in, owner):
    assert client.get("/system/")["Location"].startswith("/sign-in/")
    assert signed_in(owner).get("/system/").status_code == 403


def test_system_page_shows_workers_queue_and_failed_jobs(signed_in, operator, benchmark, owner):
    now = timezone.now()
    WorkerHeartbeat.objects.create(name="host:1", seen_at=now)
    WorkerHeartbeat.objects.create(name="host:2", seen_at=now - timedelta(hours=1))
    failed = job(benchmark, owner, title="Broken", state="failed", error="Why", finished_at=now)
    job(benchmark, owner, created_at=now - timedelta(minutes=10))

    page = signed_in(operator).get("/system/").content.decode()

    assert page.count("Alive") == 1
    assert page.count("Lost") == 1
    assert "a job has waited for more than two minutes" in page
    assert "Broken" in page
    assert "Why" in page
    assert reverse("job-retry", args=[failed.pk]) in page


def test_system_page_says_what_became_of_the_last_backup(signed_in, operator):
    def told(**values) -> str:
        fields = {"place": "/mnt/b", "snapshot": "s", **values}
        Backup.objects.create(**fields)
        return html.unescape(signed_in(operator).get("/system/").content.decode())

    assert "none was written from here" in signed_in(operator).get("/system/").content.decode()
    now, hour = timezone.now(), timedelta(hours=1)
    assert "under way since" in told(started_at=now - 5 * hour)
    done = told(started_at=now - 3 * hour, finished_at=now, n_rows=1200, n_files=3)
    assert "1,200 rows and 3 files on" in done
    cut = told(started_at=now - 2 * hour, seen_at=now - hour, error="No space left on device")
    assert "did not end (No space left on device); the last one was written" in cut
    broken = told(started_at=now - hour, finished_at=now, broken=[{"file": "a"}])
    assert "lacks what was broken here, 1 in number: verify_store" in broken


def test_system_page_says_that_no_worker_is_there(signed_in, operator):
    page = signed_in(operator).get("/system/").content.decode()

    assert "none was seen for two minutes: start one with" in page
    assert "Look here" in page


def test_storage_counts_the_bytes_of_all_files(settings, db):
    cache.clear()
    (settings.MEDIA_ROOT / "runs").mkdir()
    (settings.MEDIA_ROOT / "runs" / "a").write_bytes(b"x" * 700)
    (settings.MEDIA_ROOT / "b").write_bytes(b"x" * 300)

    storage = site_selectors.storage_state()

    assert storage.n_used == 1000
    assert 0 < storage.n_free <= storage.n_disk


def test_storage_that_nobody_has_touched_yet_is_known_to_be_a_disk(settings, db):
    assert site_selectors.storage_state().place == str(settings.MEDIA_ROOT)
    assert site_selectors.is_storage_there()


def test_full_disk_is_told(db):
    full = site_selectors.StorageState("/data", 10, 100 << 20, 100 << 30, 0)

    checks = {check.name: check for check in site_selectors.state_of([], _no_queue(), full)}

    assert not checks["Disk"].is_good
    assert checks["Queue"].is_good


def _no_queue() -> site_selectors.QueueState:
    return site_selectors.QueueState(n_queued=0, n_running=0, oldest=None)


@pytest.mark.parametrize("n", [2, 20])
def test_system_page_asks_as_often_for_20_jobs_as_for_2(signed_in, operator, benchmark, owner, n):
    for number in range(n):
        WorkerHeartbeat.objects.create(name=f"host:{number}")
        person = factories.member(benchmark, f"person{number}", "maintainer")
        job(benchmark, person, state="failed", finished_at=timezone.now())
    client = signed_in(operator)

    with CaptureQueriesContext(connection) as queries:
        assert client.get("/system/").content.decode().count("Try again: ") == n

    # A server of its own is asked what time it has.
    expected = 11 + (connection.vendor == "postgresql")
    assert len(queries) == expected, [query["sql"] for query in queries]
