"""The log of an A/B test becomes a gate's online result; the log is forgotten."""

import json

import pytest
import scipy.stats
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchmarks_app.jobs.services.retry import cancel
from benchmarks_app.models import Job, Upload
from benchmarks_app.people.services.api_tokens import create_api_token
from scoring.models import GateResult, OnlineResult
from tests import factories
from tests.scoring.making_gates import gate_of, policy_of
from tests.world import RUN

pytestmark = pytest.mark.django_db

# Visits of each arm with their pages: whether somebody clicked on the first, at place 2, or nothing
# was shown. Arm "old" succeeds on 3 of 12 visits, "new" on 9 of 12.
OLD = [["miss"]] * 6 + [["miss", "click"]] * 3 + [["empty"], ["miss", "empty"], ["miss"]]
NEW = [["click"]] * 5 + [["miss", "click", "click"]] * 4 + [["miss"]] * 3
PAGES = {
    "click": {"shown": ["d1", "d2"], "clicked": ["d2"]},
    "miss": {"shown": ["d1", "d2"], "clicked": []},
    "empty": {"shown": [], "clicked": []},
}


def log_of(**arms) -> str:
    """A page a row, of visits by arm."""
    return "\n".join(
        json.dumps({"query": "q", "session": f"{arm} {number}", "arm": arm, **PAGES[page]})
        for arm, visits in arms.items()
        for number, pages in enumerate(visits)
        for page in pages
    )


LOG = log_of(old=OLD, new=NEW)
NOBODY = log_of(old=[["miss"]] * 12, new=[["miss"]] * 12)
ARMS = {"baseline_arm": "old", "candidate_arm": "new", "metric": "success", "cutoff": 10}


def url(name: str, gate: GateResult) -> str:
    return reverse(name, args=[gate.policy.benchmark.slug, gate.pk])


@pytest.fixture
def benchmark():
    return factories.tiny_benchmark("stdlib")


@pytest.fixture
def sam(benchmark):
    return factories.member(benchmark, "sam", "submitter")


@pytest.fixture
def gate(benchmark, sam) -> GateResult:
    """Candidate "new" passed against "old"."""
    old, new = (factories.run(benchmark, RUN, name=n) for n in ("old", "new"))
    release = factories.release(benchmark.qrel_sets.get())
    return gate_of(policy_of(old, sam), new, release)


@pytest.fixture
def read(gate, sam, client, do_jobs):
    """Sends a log to the gate's page as Sam; the answer, once its job is done."""
    client.force_login(sam)

    def read(log: str = LOG, **fields):
        sent = {"log": SimpleUploadedFile("ab.jsonl", log.encode()), **ARMS, **fields}
        answer = client.post(url("scoring:gate-online-log", gate), sent)
        do_jobs()
        return answer

    return read


def succeeded(visits) -> list[int]:
    return [int("click" in pages) for pages in visits]


def test_success_of_both_arms_is_recorded_with_welchs_interval(read, gate, sam):
    assert read(note="two weeks").status_code == 302

    online = OnlineResult.objects.get()
    welch = scipy.stats.ttest_ind(succeeded(NEW), succeeded(OLD), equal_var=False)
    low, high = welch.confidence_interval()
    assert (online.outcome, online.metric, online.note) == ("better", "success@10", "two weeks")
    assert online.difference == pytest.approx(9 / 12 - 3 / 12)
    assert (online.low, online.high) == pytest.approx((low, high), abs=1e-12)
    assert (online.gate, online.recorded_by) == (gate, sam)
    assert not Upload.objects.filter(name="ab.jsonl").exists()


def test_the_gates_page_shows_both_arms_of_every_outcome(read, gate, client):
    read()

    page = client.get(gate.get_absolute_url()).content.decode()
    (old, new) = OnlineResult.objects.get().from_log["arms"]
    assert "12 visits with 16 pages" in page
    assert "12 visits with 20 pages" in page
    assert old["shares"]["click-through"][0] == pytest.approx(3 / 16)
    assert new["shares"]["click-through"][0] == pytest.approx(13 / 20)
    assert old["shares"]["zero results"][0] == pytest.approx(2 / 16)
    for value in (3 / 16, 13 / 20, 2 / 16, 9 / 12 - 3 / 12):
        assert f"{value:.4f}" in page


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({}, "better"),
        ({"baseline_arm": "new", "candidate_arm": "old"}, "worse"),
        ({"cutoff": 1}, "same"),
        ({"metric": "zero results"}, "same"),
    ],
)
def test_the_interval_of_what_decides_says_whether_it_was_better(read, fields, outcome):
    read(**fields)

    assert OnlineResult.objects.get().outcome == outcome


def test_more_pages_without_results_are_worse(read):
    rows = [
        {
            "query": "q",
            "session": f"{arm} {n}",
            "arm": arm,
            **PAGES["empty" if n % 4 < share else "miss"],
        }
        for arm, share in (("old", 0), ("new", 3))
        for n in range(40)
    ]
    read("\n".join(map(json.dumps, rows)), metric="zero results")

    online = OnlineResult.objects.get()
    assert (online.outcome, online.difference) == ("worse", pytest.approx(0.75))


def test_pages_without_results_need_no_click(read):
    read(NOBODY, metric="zero results")

    assert OnlineResult.objects.get().outcome == "same"


@pytest.mark.parametrize(
    ("log", "fields", "why"),
    [
        (LOG, {"candidate_arm": "newest"}, "'newest' is no arm of the log; there are 'new', 'old'"),
        (LOG.partition("\n")[0], {"candidate_arm": "old"}, "'old' has 1 visit"),
        ('{"a": 1}', {}, "ab.jsonl"),
        (LOG, {"candidate_arm": "old"}, "'old' stands for both runs"),
        (NOBODY, {}, "nobody clicked on what its 24 pages showed"),
    ],
    ids=["arm", "one visit", "columns", "one arm", "no click"],
)
def test_what_cannot_be_read_records_nothing_and_is_forgotten(read, log, fields, why):
    read(log, **fields)

    assert why in Job.objects.latest("pk").error
    assert not OnlineResult.objects.exists()
    assert not Upload.objects.filter(name="ab.jsonl").exists()


def test_a_log_whose_job_is_cancelled_is_forgotten_too(gate, sam, client):
    client.force_login(sam)
    log = SimpleUploadedFile("ab.jsonl", LOG.encode())
    client.post(url("scoring:gate-online-log", gate), {"log": log, **ARMS})

    cancel(job=Job.objects.get(kind="online-outcomes"), user=sam)

    assert not Upload.objects.filter(name="ab.jsonl").exists()


def test_arms_are_called_as_the_runs_unless_told(read):
    read(baseline_arm="", candidate_arm="")

    assert OnlineResult.objects.get().outcome == "better"


def test_a_log_is_read_by_api(gate, sam, client, do_jobs):
    token = create_api_token(user=sam, name="build", days=1)
    bearer = {"Authorization": f"Bearer {token.secret}"}
    sent = {"log": SimpleUploadedFile("ab.jsonl", LOG.encode()), **ARMS}

    answer = client.post(url("api:gate-online-log", gate), sent, headers=bearer)
    do_jobs()

    assert answer.status_code == 202
    (row,) = client.get(url("api:gate-online", gate), headers=bearer).json()["results"]
    assert (row["outcome"], row["from_log"]["cutoff"]) == ("better", 10)


def test_a_gate_without_a_verdict_takes_no_log(gate, sam, client):
    gate = GateResult.objects.create(
        policy=gate.policy, release=gate.release, candidate=gate.policy.baseline, created_by=sam
    )
    client.force_login(sam)
    sent = {"log": SimpleUploadedFile("ab.jsonl", LOG.encode()), **ARMS}

    answer = client.post(url("scoring:gate-online-log", gate), sent)

    assert answer.status_code == 422
    assert "has no verdict yet" in answer.content.decode()
    assert not Upload.objects.filter(name="ab.jsonl").exists()
