"""Figures that Prometheus reads, and lines of a log that say what they belong to."""

import json
import logging
import re
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from django.conf import settings as site
from django.contrib.sessions.middleware import SessionMiddleware
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from annotation.models import Slot
from benchmarks_app.env import EnvError, env_token
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.retry import retry
from benchmarks_app.models import Job
from benchmarks_app.operating.tracing import JOB, REQUEST, SECRETS, Belonging, of_job, request_name
from benchmarks_app.site.selectors import queue_state
from tests import factories
from tests.annotation import making
from tests.test_addresses import addresses

pytestmark = pytest.mark.django_db
TOKEN = "read-by-prometheus-alone"
# What addresses have beside numbers and slugs, and lets nobody in.
OPEN_WORDS = {
    *("chart", "format", "key", "measure", "recipe", "sha256", "slice_name", "tolerance", "uidb64"),
    *("version", "wish", "written"),
}
DOCS = Path(__file__).parents[3] / "docs" / "operating"


@pytest.fixture
def figures(client, settings):
    """A function that reads all figures: {name and labels: value}."""
    settings.METRICS_TOKEN = TOKEN

    def read() -> dict[str, float]:
        answer = client.get("/metrics", HTTP_AUTHORIZATION=f"Bearer {TOKEN}")
        assert answer.status_code == 200
        families = text_string_to_metric_families(answer.content.decode())
        return {
            sample.name + "".join(f" {value}" for _, value in sorted(sample.labels.items())): float(
                sample.value
            )
            for family in families
            for sample in family.samples
        }

    return read


def test_nobody_reads_them_without_the_token(client, settings):
    def status(sent: str) -> int:
        headers = {"HTTP_AUTHORIZATION": sent} if sent else {}
        return client.get("/metrics", **headers).status_code

    before = status(f"Bearer {TOKEN}")
    settings.METRICS_TOKEN = TOKEN

    assert before == 404
    assert [status(""), status("Bearer "), status("Bearer wrong"), status(TOKEN)] == [401] * 4
    assert status(f"Bearer {TOKEN}") == 200
    assert client.post("/metrics").status_code == 405


def test_token_that_is_guessed_stops_the_start(monkeypatch):
    monkeypatch.setenv("METRICS_TOKEN", "short")
    with pytest.raises(EnvError, match="16 characters or more"):
        env_token("METRICS_TOKEN")


def test_figures_are_those_of_the_database(figures, benchmark, owner, ada):
    for state, n in ((Job.State.QUEUED, 2), (Job.State.FAILED, 1), (Job.State.DONE, 3)):
        for _ in range(n):
            benchmark.jobs.create(kind="test", title="a", created_by=owner, state=state)
    last_year = timezone.now() - timedelta(days=365)
    failed = {"state": Job.State.FAILED, "created_at": last_year}
    retry(job=benchmark.jobs.create(kind="test", title="a", **failed), user=owner)
    query = factories.query(benchmark, "q1")
    pool = making.pool(benchmark, {query.qid: ["a", "b", "c"]})
    making.judge(pool.slots.first(), ada, 1)
    making.begun(pool, ada)
    n_held = len(making.claimed(pool, ada))

    read = figures()

    assert (read["benchwright_jobs test queued"], read["benchwright_jobs test failed"]) == (3, 1)
    assert "benchwright_jobs test done" not in read
    assert 0 <= read["benchwright_job_waiting_seconds test"] < 60
    assert not queue_state().waits_too_long
    assert read["benchwright_leases"] == n_held == Slot.objects.filter(state="claimed").count() > 0
    assert read["benchwright_open_pools"] == 1
    assert read["benchwright_ledger_events"] >= 1
    assert read["benchwright_workers"] == 0
    assert read["benchwright_ready_database"] == read["benchwright_ready_storage"] == 1
    assert read["benchwright_storage_free_bytes"] > 0 < read["benchwright_database_bytes"]
    # Of this request nothing is counted yet; of the next one before it, it is.
    assert figures()["benchwright_request_seconds_count GET 2xx metrics"] >= 1


def test_counting_asks_the_database_as_often_however_much_there_is(
    figures, benchmark, owner, django_assert_max_num_queries
):
    for n in range(30):
        benchmark.jobs.create(kind=f"kind {n}", title="a", created_by=owner)
    figures()

    with django_assert_max_num_queries(20):
        assert figures()["benchwright_jobs kind 7 queued"] == 1


def test_board_and_alerts_ask_for_what_is_there(figures, benchmark):
    benchmark.jobs.create(kind="test", title="a")
    names = {name.split()[0] for name in figures()} | {name.split()[0] for name in figures()}
    board = json.loads((DOCS / "grafana.json").read_text("utf-8"))
    alerts = yaml.safe_load((DOCS / "alerts.yml").read_text("utf-8"))
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    rules = [rule for group in alerts["groups"] for rule in group["rules"]]
    asked += [rule["expr"] for rule in rules]

    patterns = [match for expr in asked for match in re.findall(r'=~"([^"]+)"', expr)]
    named = {match for expr in asked for match in re.findall(r"(?<![\w~\"])benchwright_\w+", expr)}

    assert named and named <= names
    assert patterns and all(
        any(re.fullmatch(pattern, name) for name in names) for pattern in patterns
    )
    page = (DOCS.parent / "operating.md").read_text("utf-8")
    assert [rule["alert"] for rule in rules if f"`{rule['alert']}`" not in page] == []
    bases = {re.sub("_(bucket|count|sum|created)$", "", name) for name in names}
    assert [name for name in sorted(bases) if name.rpartition("_")[2] not in page] == []


# --- the log -------------------------------------------------------------------------------------


def in_json(record):
    """The line of a record, as an object."""
    made = dict(site.LOGGING["formatters"]["json"])
    module, _, name = made.pop("()").rpartition(".")
    names = {"format": "fmt"}
    options = {names.get(key, key): value for key, value in made.items()}
    formatter = getattr(__import__(module, fromlist=[name]), name)(**options)
    return json.loads(formatter.format(record))


def test_line_of_json_says_what_it_belongs_to():
    record = logging.LogRecord("benchmarks_app.jobs", logging.ERROR, "", 1, "lost %s", (7,), None)
    token = REQUEST.set("abcdefgh")
    try:
        with of_job(12):
            Belonging().filter(record)
    finally:
        REQUEST.reset(token)

    line = in_json(record)

    assert line.pop("time")
    assert line == {
        "level": "ERROR",
        "logger": "benchmarks_app.jobs",
        "message": "lost 7",
        "request_id": "abcdefgh",
        "job_id": 12,
    }


LINKS = ["/join/{}/", "/teams/join/{}/", "/account/address/{}/", "/password/reset/MQ/{}/"]


@pytest.mark.parametrize(
    ("link", "is_found"),
    [*((link, True) for link in LINKS), *((link, False) for link in [*LINKS, "/mails/stop/{}/"])],
)
def test_secret_of_a_link_is_in_no_line(link, is_found, caplog, monkeypatch):
    """Of a form that was sent without its cookie, and where no view had been found yet."""
    secret = "abcd12-lets-whoever-has-it-in"
    if not is_found:
        monkeypatch.setattr(SessionMiddleware, "process_request", "breaks")
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)

    answer = client.post(link.format(secret))

    assert answer.status_code == (403 if is_found else 500)
    (record,) = caplog.records
    line = in_json(record)
    assert line["message"].endswith(f": {link.format('…')}")
    assert secret not in caplog.text + json.dumps(line)
    fields = {"time", "level", "logger", "message", "request_id", "job_id"}
    assert line.keys() == fields | ({"exc_info"} if not is_found else set())


def test_every_word_of_an_address_is_a_secret_or_known_to_be_none():
    """A new one is to be decided about: the log has addresses, without what lets people in."""
    words = set()
    for address in addresses(get_resolver()):
        words |= set(re.findall(r"<(?:str:)?(\w+)>", address))

    assert words >= SECRETS
    assert words - SECRETS == OPEN_WORDS


def test_request_is_named_by_a_trusted_proxy_alone(client, settings, monkeypatch):
    client.raise_request_exception = False
    monkeypatch.setattr("benchmarks_app.site.views.selectors.readiness", lambda: {"x": False})

    def name(**sent: str) -> str:
        return client.get("/readyz", **sent)["X-Request-ID"]

    alone = name(HTTP_X_REQUEST_ID="chosen-by-somebody")
    settings.TRUSTED_PROXIES = 1
    trusted = name(HTTP_X_REQUEST_ID="chosen-by-the-proxy")
    evil = name(HTTP_X_REQUEST_ID="line\nbreak; and more")

    assert re.fullmatch("[0-9a-f]{32}", alone)
    assert trusted == "chosen-by-the-proxy"
    assert re.fullmatch("[0-9a-f]{32}", evil)
    assert "X-Request-ID" not in client.get("/healthz")
    assert REQUEST.get() == ""
    assert request_name("short") != "short"


def test_job_is_known_while_it_is_done(benchmark, owner, monkeypatch):
    seen = []
    monkeypatch.setitem(jobs.HANDLERS, "test", lambda job: seen.append(JOB.get()))

    job = jobs.run_here(benchmark=benchmark, user=owner, kind="test", title="a", parameters={})

    assert seen == [job.pk]
    assert JOB.get() is None
