"""Live systems: described, tried, asked for runs; and what becomes of jobs that are cut short."""

import json
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from benchmarks_app.collections.services import uploading
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.retry import cancel, retry
from benchmarks_app.jobs.services.sweeping import sweep
from benchmarks_app.models import AuditEvent, Job, Run
from benchwright.live.errors import EndpointError, HeadersError, SecretError, TemplateError
from scoring.live.services import asking
from scoring.live.services.asking import answers_folder, free_run_name, start_asking
from scoring.live.services.errors import (
    LiveBusyError,
    LiveNameTakenError,
    LiveQueriesError,
    LiveRunNameError,
)
from scoring.live.services.systems import change_live_system, delete_live_system, make_live_system
from scoring.live.services.trying import try_system
from scoring.models import LiveRun, LiveSystem, RunLatencies, ScoreSet
from scoring.scores.selectors.runs import query_latencies
from tests import factories
from tests.scoring.search_server import BODY, Answer, hits

pytestmark = pytest.mark.django_db
CORPUS = b"".join(
    json.dumps({"_id": f"d{n}", "title": f"Title {n}", "text": f"text {n}"}).encode() + b"\n"
    for n in range(1, 10)
)


@pytest.fixture
def bench(db, settings):
    """A benchmark of nine texts and three queries; this machine may be asked."""
    settings.LIVE_PRIVATE_ADDRESSES = ["127.0.0.1"]
    bench = factories.texts_benchmark("bench")
    factories.done(factories.imported(bench, CORPUS, "corpus.jsonl"))
    for n in (1, 2, 3):
        factories.query(bench, f"q{n}", f"text of q{n}")
    return bench


@pytest.fixture
def olga(bench):
    return factories.member(bench, "olga", "owner")


@pytest.fixture
def make(bench, olga, server) -> Callable[..., LiveSystem]:
    def make(**values: Any) -> LiveSystem:
        fields = {
            "name": "staging",
            "kind": "opensearch",
            "url": server.url,
            "method": "POST",
            "template": BODY,
            "results_path": "hits.hits",
            "id_path": "_id",
            "score_path": "_score",
            "k": 5,
            "requests_per_second": 1000.0,
            "concurrency": 2,
            "timeout_seconds": 5.0,
            "retries": 0,
            **values,
        }
        return make_live_system(benchmark=bench, user=olga, **fields)

    return make


@pytest.fixture
def asked(make, olga, do_jobs) -> Callable[..., Job]:
    """The finished job that asks a system."""

    def ask(system: LiveSystem | None = None, **fields: Any) -> Job:
        job = start_asking(system=system or make(), user=olga, **{"run": "live", **fields})
        do_jobs()
        job.refresh_from_db()
        return job

    return ask


# --- a run of its answers ------------------------------------------------------------------------


def test_answers_become_a_run_like_any_other(bench, server, asked):
    server.answer = lambda one: hits(("d2", 1.5), ("d1", 0.5), ("d9", -1.0))
    job = asked()

    assert (job.state, job.error) == (Job.State.DONE, "")
    run = bench.runs.get()
    assert (run.name, run.n_queries, run.n_rows, run.kind) == ("live", 3, 9, Run.Kind.LIVE)
    assert uploading.local(run.upload).read_text().splitlines()[:3] == [
        "q1 Q0 d2 1 1.5 staging",
        "q1 Q0 d1 2 0.5 staging",
        "q1 Q0 d9 3 -1.0 staging",
    ]
    assert job.result_url == f"/b/bench/runs/{run.pk}/"


def test_the_run_says_what_was_asked_and_how_long_it_took(bench, server, asked):
    asked()
    run = bench.runs.get()
    kept = RunLatencies.objects.get(run=run)
    times = query_latencies(kept)

    assert (run.metadata["system"], run.metadata["endpoint"]) == (
        "staging",
        f"127.0.0.1:{server.port}",
    )
    assert run.metadata["latency_ms"] == round(kept.p50, 3) == round(sorted(times.values())[1], 3)
    assert (list(times), kept.n_queries, kept.source) == (["q1", "q2", "q3"], 3, "live")
    assert kept.longest == max(times.values()) >= kept.p95 >= kept.p50 > 0
    assert len(run.metadata["template SHA-256"]) == 64


def test_the_run_is_scored_on_the_newest_release(bench, server, asked, publish, do_jobs):
    publish(factories.qrel_set(bench, {("q1", "d1"): 3, ("q2", "d4"): 2}))
    do_jobs()
    asked()
    do_jobs()

    assert ScoreSet.objects.get(run__name="live").n_missing == 0


def test_what_is_odd_about_answers_is_told_with_counts(bench, server, asked):
    repeated = [("d1", "2.0"), ("x1", 3.0), ("d1", 1.0), ("d1", 0.7), ("d2", 0.5)]
    server.scripted["text of q1"] = [hits(*repeated)]
    server.scripted["text of q2"] = [hits()]
    job = asked()
    live = LiveRun.objects.get()

    assert job.state == Job.State.DONE
    assert (live.n_empty, live.n_repeated, live.n_unknown, live.n_failed) == (1, 2, 1, 0)
    assert job.result["notes"] == [
        "1 query was answered with an empty list; that is no failure.",
        "1 document is not in the corpus, such as 'x1'.",
        "2 documents were given twice for a query; the first place counts.",
        "1 answer was not in the order of its scores; the run is ordered by score.",
    ]
    assert live.run.n_queries == 2
    assert live.run.metadata["answered with nothing"] == "1"
    assert RunLatencies.objects.get().n_queries == 3


def test_without_a_score_the_order_of_the_results_is_the_ranking(bench, server, make, asked):
    server.answer = lambda one: hits(("d1", None), ("d9", None))
    asked(make(score_path=""))

    lines = uploading.local(bench.runs.get().upload).read_text().splitlines()
    assert lines[:2] == ["q1 Q0 d1 1 5.0 staging", "q1 Q0 d9 2 4.0 staging"]


@pytest.mark.parametrize(
    ("given", "texts"),
    [({"split": "test"}, ["text of q2"]), ({"split": "train"}, ["text of q1"])],
)
def test_the_queries_of_one_split_can_be_asked(bench, server, asked, given, texts):
    for qid, split in (("q1", "train"), ("q2", "test")):
        family = bench.queries.get(qid=qid).family
        family.split = split
        family.save()
    asked(**given)

    assert [request.query for request in server.asked] == texts


def test_the_queries_of_a_release_are_asked_as_it_froze_them(bench, server, asked, publish):
    publish(factories.qrel_set(bench, {("q1", "d1"): 1, ("q3", "d2"): 1}))
    bench.queries.filter(qid="q1").update(text="changed since")
    asked(release="1.0.0")

    assert "changed since" not in {request.query for request in server.asked}
    assert "text of q1" in {question.query for question in server.asked}


# --- failures ------------------------------------------------------------------------------------


def test_one_failed_query_fails_the_job_and_makes_nothing(bench, server, asked):
    server.scripted["text of q2"] = [Answer(b'{"error": "no such field"}', status=400)]
    job = asked()

    assert job.state == Job.State.FAILED
    assert "staging failed to answer 1 of the" in job.error
    assert 'query \'q2\': HTTP 400 Bad Request: {"error": "no such field"}' in job.error
    assert (Run.objects.count(), LiveRun.objects.count(), RunLatencies.objects.count()) == (0, 0, 0)


def test_as_many_may_fail_as_the_owner_says(bench, server, asked):
    server.scripted["text of q2"] = [Answer(b"", status=404)]
    job = asked(may_fail=1)
    live = LiveRun.objects.get()

    assert (job.state, live.n_asked, live.n_failed) == (Job.State.DONE, 3, 1)
    assert live.run.n_queries == 2
    assert live.asked_as["failed"][0]["qid"] == "q2"
    assert job.result["notes"] == [
        "1 query failed, as many as may; it counts as 0: 'q2': HTTP 404 Not Found."
    ]


def test_what_is_wrong_with_an_answer_is_kept_as_every_database_takes_it(server, asked):
    server.scripted["text of q2"] = [Answer(b'{"od\\u0000d": 1}')]

    assert asked(may_fail=1).state == Job.State.DONE
    (failed,) = LiveRun.objects.get().asked_as["failed"]
    assert "od\N{REPLACEMENT CHARACTER}d" in failed["why"]


def test_one_more_than_may_fail_is_too_many(bench, server, asked):
    server.answer = lambda one: Answer(b"", status=404)
    job = asked(may_fail=1)

    assert "staging failed to answer 2 of the" in job.error
    assert len(server.asked) < 4


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            Answer(b"<html>Login</html>"),
            "its answer is no JSON; it begins with '<html>Login</html>'",
        ),
        (Answer(b'{"hits": []}'), "its answer does not fit 'hits.hits': 'hits' is a list"),
        (Answer(b"[" * 100_000), "its answer is no JSON"),
        (hits(("d1", "n/a")), "the score of result 1 is 'n/a'; expected a number"),
        (hits(("d1", float("nan"))), "the score of result 1 is nan; expected a number"),
        (hits(("d1", None)), "the score of result 1 is null"),
        (hits(({"a": 1}, 1.0)), "the id of result 1 is an object; expected a text"),
        (hits(("two words", 1.0)), "result 1: the id holds white space"),
        (hits(("d1", 1.0), timed_out=True), "it ran out of its own time"),
        (
            hits(("d1", 1.0), _shards={"total": 5, "failed": 2}),
            "2 of its 5 shards failed, and it gave the rest",
        ),
        (Answer(b"", status=302, headers={"Location": "http://10.0.0.1/"}), "it leads to"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_answers_that_cannot_be_used_are_told_in_words(server, asked, answer, words):
    server.answer = lambda one: answer
    job = asked()

    assert (job.state, words in job.error) == (Job.State.FAILED, True), job.error


def test_documents_of_another_corpus_fail_the_job(server, asked):
    server.answer = lambda one: hits(("0", 2.0), ("1", 1.0))
    job = asked()

    assert job.error.startswith("None of the 2 documents that staging gave is in the corpus")
    assert "it has '0', '1', the corpus 'd1', 'd2', 'd3'" in job.error


def test_nothing_but_empty_answers_fail_the_job(server, asked):
    server.answer = lambda one: hits()

    assert "staging answered 3 queries, each with an empty list" in asked().error


def test_an_address_that_became_private_fails_the_job(server, make, asked, settings):
    system = make()
    settings.LIVE_PRIVATE_ADDRESSES = []
    with pytest.raises(EndpointError, match="not in the public network"):
        asked(system)

    assert server.asked == []


# --- cut short, and gone on ----------------------------------------------------------------------


class Killed(BaseException):
    """What a worker's end looks like from inside: nothing after it runs."""


@pytest.fixture
def many(bench):
    """Thirty queries more."""
    for n in range(10, 40):
        factories.query(bench, f"q{n}", f"text of q{n}")
    return bench


def test_a_job_whose_worker_was_lost_asks_only_what_is_left(
    many, server, make, olga, do_jobs, monkeypatch
):
    job = start_asking(system=make(concurrency=1), user=olga, run="live")
    log = asking.AnswerLog
    add, n_kept = log.add, []

    def add_and_die(self, answered, text):
        add(self, answered, text)
        n_kept.append(answered.qid)
        if len(n_kept) == 12:
            raise Killed

    monkeypatch.setattr(log, "add", add_and_die)
    with pytest.raises(Killed):
        jobs.execute(job.pk, has_heartbeat=False)
    monkeypatch.setattr(log, "add", add)
    written = next(answers_folder(job.pk).glob("*.jsonl"))
    written.write_bytes(written.read_bytes() + b'{"qid": "q39", "te')  # cut while it was written
    long_ago = timezone.now() - timedelta(hours=1)
    Job.objects.filter(pk=job.pk).update(heartbeat_at=long_ago)
    n_before = len(server.asked)
    assert sweep().n_requeued == 1
    do_jobs()
    job.refresh_from_db()

    assert (job.state, job.attempt, job.error) == (Job.State.DONE, 2, "")
    again = [request.query for request in server.asked[n_before:]]
    assert len(set(again)) == 33 - 12
    assert len(again) <= 33 - 12 + 1  # one may have been on its way when the worker was lost
    assert not {f"text of {qid}" for qid in n_kept} & set(again)
    assert many.runs.get().n_queries == 33
    assert RunLatencies.objects.get().n_queries == 33
    assert not answers_folder(job.pk).exists()


def test_a_failed_job_goes_on_where_it_was_once_the_system_is_mended(
    many, server, make, olga, asked, do_jobs
):
    server.scripted["text of q20"] = [Answer(b"", status=500)]
    job = asked(make(concurrency=1))
    n_before = len(server.asked)
    assert job.state == Job.State.FAILED
    retry(job=job, user=olga)
    do_jobs()
    job.refresh_from_db()

    assert (job.state, many.runs.get().n_queries) == (Job.State.DONE, 33)
    texts = [request.query for request in server.asked]
    assert texts.count("text of q20") == 2
    assert len(texts) <= 34 + 3 and n_before < 33  # what was on its way when it failed


def test_answers_of_a_system_as_it_was_before_are_not_taken_over(
    many, server, make, olga, asked, do_jobs
):
    server.scripted["text of q20"] = [Answer(b"", status=500)]
    system = make(concurrency=1)
    job = asked(system)
    change_live_system(system=system, user=olga, k=7)
    server.asked.clear()
    retry(job=job, user=olga)
    do_jobs()

    assert len(server.asked) == 33
    assert {request.body["size"] for request in server.asked} == {7}


def test_a_cancelled_job_makes_nothing_and_keeps_nothing(many, server, make, olga, asked):
    server.scripted["text of q20"] = [Answer(b"", status=500)]
    job = asked(make(concurrency=1))
    assert answers_folder(job.pk).exists()
    retry(job=job, user=olga)
    cancel(job=job, user=olga)

    assert (answers_folder(job.pk).exists(), Run.objects.count()) == (False, 0)


def test_a_name_that_was_taken_meanwhile_is_told_before_anything_is_asked(
    bench, server, make, olga, do_jobs
):
    job = start_asking(system=make(), user=olga, run="live")
    factories.run(bench, "q1 Q0 d1 1 1 t", name="live")
    do_jobs()
    job.refresh_from_db()

    assert (job.state, server.asked) == (Job.State.FAILED, [])
    assert "A run named 'live' is in this benchmark already" in job.error


def test_the_next_run_is_called_by_the_day_and_a_number(bench, make):
    system = make()
    names = []
    for _ in range(3):
        names.append(free_run_name(system))
        factories.run(bench, "q1 Q0 d1 1 1 t", name=names[-1])

    day = f"staging {timezone.now():%Y-%m-%d}"
    assert names == [day, f"{day} 2", f"{day} 3"]


# --- describing ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"url": "http://10.1.2.3/x"}, EndpointError, "LIVE_PRIVATE_ADDRESSES=10.1.2.3"),
        ({"url": "file:///etc/passwd"}, EndpointError, "'file' is not http or https"),
        ({"template": '{"q": 1}'}, TemplateError, "it has no {{query}}"),
        ({"headers": "Authorization: Bearer abc"}, HeadersError, "looks like a secret"),
        ({"headers": "Authorization: $SECRET_KEY"}, SecretError, "SECRET_KEY"),
    ],
)
def test_what_cannot_be_asked_is_not_kept(make, values, error, words):
    with pytest.raises(error) as caught:
        make(**values)

    assert words in str(caught.value)
    assert not LiveSystem.objects.exists()


def test_a_secret_goes_to_its_own_address_alone_and_is_kept_nowhere(
    bench, server, make, asked, settings, monkeypatch
):
    monkeypatch.setenv("SEARCH_KEY", "s3cret-s3ntinel")
    settings.LIVE_SECRETS = {"SEARCH_KEY": f"http://127.0.0.1:{server.port}"}
    server.answer = lambda one: Answer(one.headers["authorization"].encode(), status=403)
    job = asked(make(headers="Authorization: ApiKey $SEARCH_KEY"))

    assert server.asked[0].headers["authorization"] == "ApiKey s3cret-s3ntinel"
    assert "HTTP 403 Forbidden: ApiKey •••" in job.error
    rows = [*LiveSystem.objects.values(), *Job.objects.values(), *AuditEvent.objects.values()]
    assert "s3ntinel" not in repr(rows)
    with pytest.raises(SecretError, match="may not be sent to http://localhost"):
        make(name="other", url="http://localhost:9/x", headers="X-Key: $SEARCH_KEY")


def test_a_secret_without_a_value_is_told_before_anything_is_asked(
    server, make, asked, settings, monkeypatch
):
    monkeypatch.delenv("SEARCH_KEY", raising=False)
    settings.LIVE_SECRETS = {"SEARCH_KEY": f"http://127.0.0.1:{server.port}"}
    job = asked(make(headers="X-Key: $SEARCH_KEY"))

    assert job.error.startswith("The environment variable SEARCH_KEY: it has no value where this")
    assert server.asked == []


def test_a_query_is_asked_again_as_often_as_the_system_says(server, make, asked):
    server.scripted["text of q1"] = [Answer(b"", status=503)]
    job = asked(make(retries=1))

    assert (job.state, len(server.asked)) == (Job.State.DONE, 4)
    assert job.result["notes"] == ["1 query was answered at a second try or later."]


def test_names_are_taken_once(make, bench, asked):
    make()
    with pytest.raises(LiveNameTakenError, match="'staging' is in this benchmark already"):
        make()
    with pytest.raises(LiveRunNameError):
        factories.run(bench, "q1 Q0 d1 1 1.0 x", name="live")
        asked(LiveSystem.objects.get())


def test_a_system_that_is_asked_cannot_be_asked_changed_or_removed(make, olga):
    system = make()
    start_asking(system=system, user=olga, run="one")
    for disturb in (
        lambda: start_asking(system=system, user=olga, run="two"),
        lambda: change_live_system(system=system, user=olga, k=3),
        lambda: delete_live_system(system=system, user=olga),
    ):
        with pytest.raises(LiveBusyError):
            disturb()


def test_a_system_that_was_changed_was_not_tried_as_it_is(make, olga):
    system = make()
    try_system(system=system, query="a query")
    assert LiveSystem.objects.get().tried_well

    change_live_system(system=system, user=olga, k=7)

    system = LiveSystem.objects.get()
    assert (system.tried_at, system.tried_well) == (None, False)


def test_a_system_is_asked_while_another_one_is(make, olga):
    first, second = make(), make(name="second")
    start_asking(system=first, user=olga, run="one")

    assert start_asking(system=second, user=olga, run="two").state == Job.State.QUEUED


def test_queries_without_text_are_not_asked(bench, server, asked):
    bench.queries.filter(qid="q2").update(text="")
    asked()

    assert sorted(request.query for request in server.asked) == ["text of q1", "text of q3"]


def test_a_removed_system_leaves_its_runs(make, olga, asked, bench):
    system = make()
    asked(system)
    delete_live_system(system=system, user=olga)

    assert (LiveRun.objects.get().system, bench.runs.count()) == (None, 1)


def test_there_must_be_a_query(make, olga):
    system = make()
    with pytest.raises(LiveQueriesError, match="The split 'test' holds no query to ask"):
        start_asking(system=system, user=olga, run="live", split="test")


def test_live_runs_from_before_their_kind_are_told_apart_by_a_migration(bench, make):
    live, run = factories.live_run(make()), factories.run(bench, "q1 Q0 d1 1 1.0 s")
    Run.objects.update(kind=Run.Kind.UPLOADED)
    migration = import_module("scoring.migrations.0008_kind_of_live_runs")
    editor = SimpleNamespace(connection=connection)

    migration.tell_live(apps, editor)
    kinds = dict(Run.objects.values_list("pk", "kind"))
    migration.tell_uploaded(apps, editor)

    assert kinds == {live.pk: "live", run.pk: "uploaded"}
    assert set(Run.objects.values_list("kind", flat=True)) == {"uploaded"}


# --- trying --------------------------------------------------------------------------------------


def test_a_try_tells_what_was_sent_and_what_came(server, make):
    server.answer = lambda one: hits(("d2", 2.0), ("zzz", 1.0))
    system = make()
    trial = try_system(system=system, query='a "quoted" one')

    assert (trial.status, trial.n_results, trial.n_unknown, trial.why) == (200, 2, 1, "")
    assert [(result.docid, result.is_known, result.title) for result in trial.results] == [
        ("d2", True, "Title 2"),
        ("zzz", False, ""),
    ]
    assert json.loads(trial.body)["query"]["match"]["text"] == 'a "quoted" one'
    assert (trial.address, system.tried_well) == (server.url, True)


def test_a_try_says_in_words_what_is_wrong(server, make):
    server.answer = lambda one: Answer(b'{"status": 404, "error": "no such index"}', status=404)
    system = make()
    trial = try_system(system=system, query="x")

    assert trial.why == 'HTTP 404 Not Found: {"status": 404, "error": "no such index"}'
    assert (trial.status, system.tried_well, system.tried_at is None) == (404, False, False)
