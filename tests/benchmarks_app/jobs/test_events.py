"""Jobs as they go on, told as server-sent events."""

import json
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.test import Client

from benchmarks_app.jobs import api
from benchmarks_app.models import Job, Membership
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner():
    return factories.member(factories.benchmark("bench"), "olga", "owner")


@pytest.fixture
def job(owner):
    of = owner.memberships.get().benchmark
    state = {"state": "running", "token": uuid4(), "done": 1, "total": 3}
    return Job.objects.create(kind="test", title="a", benchmark=of, created_by=owner, **state)


def ask(owner, job):
    client = Client()
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return client.get(f"/api/v1/jobs/{job.pk}/events/", headers={"Accept": "text/event-stream"})


def told(response) -> list[dict]:
    blocks = b"".join(response.streaming_content).decode().strip().split("\n\n")
    assert all(block.startswith("event: job\ndata: ") for block in blocks)
    return [json.loads(block.removeprefix("event: job\ndata: ")) for block in blocks]


def test_every_change_is_told_until_the_job_has_ended(owner, job, monkeypatch):
    steps = iter([{"done": 1}, {"done": 2}, {"done": 3, "state": "done", "token": None}])
    rows = Job.objects.filter(pk=job.pk)
    monkeypatch.setattr(api, "sleep", lambda seconds: rows.update(**next(steps)))
    given_back = Mock()
    monkeypatch.setattr(api, "close_old_connections", given_back)

    response = ask(owner, job)

    assert response["Content-Type"] == "text/event-stream"
    assert [state["done"] for state in told(response)] == [1, 2, 3]
    assert given_back.call_count == 3  # the connection, before each sleep


@pytest.mark.parametrize("gone", [Job, Membership])
def test_a_stream_ends_where_there_is_no_job_to_be_seen_any_more(owner, job, monkeypatch, gone):
    def end(seconds: float) -> None:
        gone.objects.all().delete()
        Job.objects.update(created_by=None, done=2)

    monkeypatch.setattr(api, "sleep", end)
    monkeypatch.setattr(api, "close_old_connections", Mock())  # the test's own is one

    assert [state["done"] for state in told(ask(owner, job))] == [1]


def test_a_stream_ends_by_itself_and_makes_room(owner, job, monkeypatch):
    monkeypatch.setattr(api, "STREAM_SECONDS", 0)

    for _ in range(5):
        assert len(told(ask(owner, job))) == 1


def test_more_streams_than_there_is_room_for_are_sent_away(owner, job, monkeypatch):
    monkeypatch.setattr(api, "STREAMS", api.BoundedSemaphore(1))
    first = ask(owner, job)

    refusal = ask(owner, job)
    monkeypatch.setattr(api, "STREAM_SECONDS", 0)
    told(first)  # read to its end, it gives its place back

    assert (refusal.status_code, refusal.json()["code"]) == (503, "streams-busy")
    assert refusal["Retry-After"] == "5"
    assert ask(owner, job).status_code == 200
