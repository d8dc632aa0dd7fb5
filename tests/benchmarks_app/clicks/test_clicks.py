"""A log of clicks becomes qrels of their own kind: page, API, command; the log is forgotten."""

import json
from collections import Counter
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.clicks.services import Asked, receive_logs, start_grading
from benchmarks_app.collections.services.uploading import UploadTooLargeError
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.retry import JobNotRetryableError, cancel, retry
from benchmarks_app.jobs.services.sweeping import sweep
from benchmarks_app.models import AuditEvent, Job, QrelSet, Upload
from benchmarks_app.people.services.api_tokens import create_api_token
from tests import factories

pytestmark = pytest.mark.django_db

# 30 pages: d1 above d2 above d3, and d4 that the corpus lacks. The first is clicked on 20 pages of
# 30, the second on 10, the third on 5: of COEC each is worth 1, for its place gets no more.
SHOWN = ["d1", "d2", "d3", "dx"]
PAGES = [
    {"query": "Open  ACCOUNT", "shown": SHOWN, "clicked": clicked, "session": f"person {number}"}
    for number, clicked in enumerate(
        [["d1"]] * 15 + [["d1", "d2"]] * 5 + [["d2"]] * 5 + [["d3"]] * 5
    )
]
LOG = "\n".join(map(json.dumps, PAGES))
QUERIES = [
    {"query_id": str(n), "user_query": page["query"], "query_response_hit_ids": page["shown"]}
    for n, page in enumerate(PAGES)
]
EVENTS = [
    {"query_id": str(n), "action_name": "open", "event_attributes": {"object": {"object_id": doc}}}
    for n, page in enumerate(PAGES)
    for doc in page["clicked"]
]


@pytest.fixture
def benchmark():
    bench = factories.texts_benchmark("bank")
    rows = ({"_id": docid, "text": f"text of {docid}"} for docid in SHOWN[:3])
    content = "\n".join(map(json.dumps, rows)).encode()
    factories.done(factories.imported(bench, content, "corpus.jsonl"))
    Upload.objects.all().delete()
    factories.query(bench, "q1", text="open account")
    return bench


@pytest.fixture
def owner(benchmark):
    return factories.member(benchmark, "olga", "owner")


@pytest.fixture
def client(owner):
    client = Client()
    client.force_login(owner)
    return client


def sent(content: str = LOG, name: str = "may.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode())


def expected_clicks() -> dict[str, float]:
    """Clicks over the click-through of each place, row by row, as the definition says."""
    through = Counter(page["shown"].index(doc) for page in PAGES for doc in page["clicked"])
    expected, clicks = Counter(), Counter()
    for page in PAGES:
        for place, doc in enumerate(page["shown"]):
            expected[doc] += through[place] / len(PAGES)
            clicks[doc] += doc in page["clicked"]
    return {doc: clicks[doc] / expected[doc] for doc in expected if expected[doc]}


@pytest.mark.parametrize(
    ("file", "name"), [("m" * 200 + ".jsonl", "m" * 120), (".jsonl", "clicks")]
)
def test_a_set_is_called_as_its_log_as_far_as_a_name_may_be_long(benchmark, owner, file, name):
    uploads = receive_logs(benchmark=benchmark, user=owner, logs=[sent(name=file)])

    start_grading(benchmark=benchmark, user=owner, uploads=uploads, options=Asked(least=10))
    jobs.run_queued()

    assert QrelSet.objects.get().name == name


def test_a_log_sent_on_the_page_becomes_a_set_of_kind_click(client, benchmark, owner):
    benchmark.grades.filter(value=2).update(is_relevant=False)
    fields = {"log": sent(), "name": "", "model": "coec", "least": 10}

    answer = client.post(reverse("click-qrels-new", args=["bank"]), fields)
    jobs.run_queued()

    job = Job.objects.get(kind="grade-clicks")
    assert answer.url == job.get_absolute_url()
    record = benchmark.qrel_sets.get()
    assert (record.kind, record.name, record.rule, record.state) == (
        "click",
        "may",
        "click",
        "ready",
    )
    grades = dict(record.qrels.values_list("docid", "grade"))
    # 1 is where grade 2 begins; dx is not in the corpus.
    assert grades == {doc: 2 for doc, worth in expected_clicks().items() if worth == 1}
    assert set(grades) == {"d1", "d2", "d3"}
    assert (record.n_qrels, record.n_queries, record.n_relevant) == (3, 1, 0)
    facts = record.parameters
    assert (facts["n_pages"], facts["n_clicks"], facts["files"]) == (30, 35, ["may.jsonl"])
    assert facts["priors"][:3] == [20 / 30, 10 / 30, 5 / 30]
    assert AuditEvent.objects.get(action="grade-clicks").target == "may"


def test_words_beside_an_image_are_not_what_a_log_asks(benchmark, owner):
    benchmark.queries.update(metadata={"image_sha256": ["a" * 64]})
    uploads = receive_logs(benchmark=benchmark, user=owner, logs=[sent()])

    job = start_grading(benchmark=benchmark, user=owner, uploads=uploads, options=Asked(least=10))
    jobs.run_queued()

    job.refresh_from_db()
    assert "none of its 30 pages asked a query of this benchmark" in job.error


def test_the_log_is_forgotten_and_nobody_in_it_is_named(
    client, benchmark, django_capture_on_commit_callbacks
):
    client.post(
        reverse("click-qrels-new", args=["bank"]), {"log": sent(), "model": "coec", "least": 10}
    )
    stored = Upload.objects.get().stored
    with django_capture_on_commit_callbacks(execute=True):
        jobs.run_queued()

    assert not Upload.objects.exists()
    assert not default_storage.exists(stored)
    job = Job.objects.get(kind="grade-clicks")
    body = json.dumps([benchmark.qrel_sets.get().parameters, job.result, job.parameters])
    assert "person" not in body


def test_ubi_by_the_api_with_an_action_of_its_own(benchmark, owner):
    key = create_api_token(user=owner, name="test", days=1).secret
    files = {
        "log": sent("\n".join(map(json.dumps, QUERIES)), "queries.ndjson"),
        "events": sent("\n".join(map(json.dumps, EVENTS)), "events.ndjson"),
    }
    fields = {"actions": "open, buy", "model": "cascade", "least": 5, "cuts": "0.2,0.6"}

    answer = Client().post(
        "/api/v1/benchmarks/bank/qrels/clicks/",
        {**files, **fields},
        headers={"Authorization": f"Bearer {key}"},
    )
    jobs.run_queued()

    assert answer.status_code == 202, answer.content
    record = benchmark.qrel_sets.get()
    # Looked at until the first click: d1 30 times with 20, d2 10 with 5, d3 5 with 5.
    assert dict(record.qrels.values_list("docid", "grade")) == {"d1": 2, "d2": 1, "d3": 2}
    assert (record.parameters["model"], record.parameters["cuts"]) == ("cascade", [0.2, 0.6])


def test_the_command_reads_columns_of_any_name(benchmark, owner, tmp_path, capsys):
    log = tmp_path / "may.csv"
    lines = (f"{page['query']},{' '.join(SHOWN)},{' '.join(page['clicked'])}" for page in PAGES)
    log.write_text("\n".join(["words,seen,taken", *lines]))

    columns = ["query=words", "shown=seen", "clicked=taken"]
    call_command("grade_clicks", "bank", str(log), column=columns, name="by hand", user="olga")

    assert benchmark.qrel_sets.get().name == "by hand"
    assert "qrels 'by hand' of kind click with 3 grades" in capsys.readouterr().out
    assert log.exists()
    assert not Upload.objects.exists()


REFUSED = {
    "other queries": (
        LOG.replace("Open  ACCOUNT", "weather"),
        {},
        "asked a query of this benchmark",
    ),
    "other documents": (LOG.replace('"d', '"e'), {}, "graded documents is in the corpus"),
    "no log": ("name,age\nbo,7\n", {}, "are of no known log of clicks"),
    "not enough": (LOG, {"least": 900}, "was shown 900 times"),
    "no click": ("\n".join(map(json.dumps, QUERIES)), {}, "nobody clicked on what its 30 pages"),
    "another action": (None, {}, "counts as a click; there are open"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_log_without_a_grade_says_why_and_leaves_nothing(why, benchmark, owner):
    content, changes, words = REFUSED[why]
    rows = QUERIES if content is None else None
    files = [sent("\n".join(map(json.dumps, rows)), "q.ndjson")] if rows else [sent(content)]
    if rows:
        files.append(sent("\n".join(map(json.dumps, EVENTS)), "e.ndjson"))
    uploads = receive_logs(benchmark=benchmark, user=owner, logs=files)

    job = start_grading(benchmark=benchmark, user=owner, uploads=uploads, options=Asked(**changes))
    jobs.run_queued()

    job.refresh_from_db()
    assert job.state == "failed"
    assert words in job.error
    assert not QrelSet.objects.exists()
    assert not Upload.objects.exists()


@pytest.mark.parametrize("end", ["cancelled", "lost"])
def test_a_log_whose_job_comes_to_nothing_is_forgotten_too(
    benchmark, owner, settings, end, django_capture_on_commit_callbacks, signed_in
):
    uploads = receive_logs(benchmark=benchmark, user=owner, logs=[sent()])
    job = start_grading(benchmark=benchmark, user=owner, uploads=uploads, options=Asked())

    with django_capture_on_commit_callbacks(execute=True):
        if end == "cancelled":
            cancel(job=job, user=owner)
        else:
            Job.objects.update(
                state="running",
                token=uuid4(),
                attempt=settings.JOB_MAX_ATTEMPTS,
                heartbeat_at=timezone.now() - timedelta(days=1),
            )
            sweep()

    job.refresh_from_db()
    assert job.is_finished
    assert not Upload.objects.exists()
    assert not default_storage.exists(uploads[0].stored)
    assert "Try again" not in signed_in(owner).get(job.get_absolute_url()).content.decode()
    with pytest.raises(JobNotRetryableError, match="its file is forgotten; send it again"):
        retry(job=job, user=owner)


def test_logs_beside_one_that_is_too_large_are_forgotten(benchmark, owner, settings):
    settings.UPLOAD_LIMIT_BYTES = len(LOG)
    logs = [sent(), sent(f"{LOG}\n{LOG}", "large.jsonl")]

    with pytest.raises(UploadTooLargeError):
        receive_logs(benchmark=benchmark, user=owner, logs=logs)
    assert not Upload.objects.exists()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"cuts": "2,1"}, "expected numbers above 0 that rise"),
        ({"cuts": "1,2,3,4"}, "the benchmark has 0, 1, 2, 3"),
        ({"columns": "words=q"}, "is no column"),
        ({"least": 0}, "least"),
        ({"name": "taken"}, "taken"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_a_job(client, benchmark, fields, words):
    factories.qrel_set(benchmark, {}, name="taken")
    sent_fields = {"log": sent(), "model": "coec", "least": 10, **fields}

    answer = client.post(reverse("click-qrels-new", args=["bank"]), sent_fields)

    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Job.objects.filter(kind="grade-clicks").exists()
    assert not Upload.objects.exists()


def test_a_command_says_what_file_is_missing(benchmark, owner):
    with pytest.raises(CommandError, match="no such file"):
        call_command("grade_clicks", "bank", "nowhere.csv", user="olga")


def test_a_release_of_clicks_says_so(client, benchmark, owner):
    client.post(
        reverse("click-qrels-new", args=["bank"]), {"log": sent(), "model": "coec", "least": 10}
    )
    jobs.run_queued()
    release = factories.release(benchmark.qrel_sets.get(), by=owner)

    page = client.get(release.get_absolute_url()).content.decode()
    board = client.get(
        reverse("scoring:leaderboard-release", args=["bank", release.version])
    ).content.decode()

    assert "Clicks gave these grades, not people" in page
    assert "From clicks" in board
    assert "coec over 30 pages of results" in board
