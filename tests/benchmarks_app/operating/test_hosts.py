"""Hosts that do not fit together are told of, wherever an operator looks."""

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone

from benchmarks_app import hosts
from benchmarks_app.jobs.services.workers import see_worker
from benchmarks_app.models import WorkerHeartbeat
from benchmarks_app.operating import doctor
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def kept_open(monkeypatch):
    """The test's own connection, which a worker's parent would close."""
    monkeypatch.setattr("benchmarks_app.jobs.services.workers.connection.close", lambda: None)


@pytest.fixture
def elsewhere(settings, tmp_path):
    """A function that lets a worker of another host sign on, as it is there."""

    def see(**facts) -> WorkerHeartbeat:
        see_worker("other:7")
        WorkerHeartbeat.objects.filter(name="other:7").update(**facts)
        return WorkerHeartbeat.objects.get(name="other:7")

    return see


def test_workers_of_one_folder_fit(elsewhere, client):
    worker = elsewhere()

    assert worker.store == hosts.store_mark() != ""
    assert worker.version == hosts.site_version()
    assert hosts.differences([worker], hosts.this_host()) == []
    assert client.get("/readyz").json()["hosts"] == "ok"


def test_mark_is_made_once_and_another_folder_has_another(monkeypatch, tmp_path):
    here = hosts.store_mark()
    again = hosts.store_mark()
    monkeypatch.setattr(default_storage, "path", lambda name: str(tmp_path / "away" / name))

    there = hosts.store_mark()

    assert here == again != there
    assert len(there) == 32
    assert [path.name for path in (tmp_path / "away").iterdir()] == [".mark"]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"store": "0" * 32}, "other:7 and this process look into different folders"),
        ({"version": "0.0.1"}, "run several versions (0.0.1, "),
        ({"clock_ahead": -30.0}, "the clock of other:7 is apart from the database's"),
    ],
)
def test_what_does_not_fit_is_told_everywhere(elsewhere, client, signed_in, settings, facts, words):
    elsewhere(**facts)
    operator = factories.user("operator", is_staff=True)
    settings.METRICS_TOKEN = "read-by-prometheus-alone"

    ready = client.get("/readyz")
    page = signed_in(operator).get("/system/").content.decode()
    figures = client.get("/metrics", HTTP_AUTHORIZATION=f"Bearer {settings.METRICS_TOKEN}")
    results = [finding for finding in doctor.examined() if finding.part == "hosts"]

    assert (ready.status_code, ready.json()["hosts"]) == (200, "differ")
    assert words in page.replace("&#x27;", "'")
    assert b"benchwright_host_differences 1.0" in figures.content
    assert [(result.level, words in result.what) for result in results] == [("wrong", True)]


def test_worker_that_is_gone_differs_from_nobody(elsewhere):
    worker = elsewhere(store="0" * 32, seen_at=timezone.now() - timezone.timedelta(hours=1))

    assert hosts.differences([worker], hosts.this_host()) == []


def test_clock_of_this_host_is_held_against_the_databases(monkeypatch):
    later = timezone.now() + timezone.timedelta(seconds=30)
    monkeypatch.setattr(hosts.timezone, "now", lambda: later)

    ahead = hosts.clock_ahead()

    if connection.vendor == "postgresql":
        assert ahead == pytest.approx(30, abs=5)
        (difference,) = hosts.differences([], hosts.this_host())
        assert difference.startswith("the clock of this host is apart")
    else:
        assert ahead is None
