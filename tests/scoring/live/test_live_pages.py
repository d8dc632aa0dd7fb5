"""Pages, commands and the API of live systems, and the latency on a run's page."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import Job, Run
from scoring.models import LiveRun, LiveSystem
from tests import factories
from tests.open_pages import opened
from tests.scoring.live.test_live import CORPUS
from tests.scoring.search_server import BODY, Answer, hits

pytestmark = pytest.mark.django_db
SENTINEL = "s3cret-s3ntinel"


@pytest.fixture
def bench(db, settings, server, monkeypatch):
    monkeypatch.setenv("SEARCH_KEY", SENTINEL)
    settings.LIVE_PRIVATE_ADDRESSES = ["127.0.0.1"]
    settings.LIVE_SECRETS = {"SEARCH_KEY": server.url}
    bench = factories.texts_benchmark("bench")
    factories.done(factories.imported(bench, CORPUS, "corpus.jsonl"))
    factories.query(bench, "q1", "first text")
    factories.query(bench, "q2", "second text")
    return bench


@pytest.fixture
def olga(bench, signed_in):
    return signed_in(factories.member(bench, "olga", "owner"))


@pytest.fixture
def form(server) -> dict[str, object]:
    return {
        "name": "staging",
        "url": server.url,
        "kind": "opensearch",
        "method": "POST",
        "template": BODY,
        "headers": "Authorization: ApiKey $SEARCH_KEY",
        "results_path": "hits.hits",
        "id_path": "_id",
        "score_path": "_score",
        "k": 5,
        "requests_per_second": 1000,
        "concurrency": 2,
        "timeout_seconds": 5,
        "retries": 0,
    }


def page(name: str, *args: object) -> str:
    return reverse(f"scoring:{name}", args=["bench", *args])


def test_from_an_empty_page_to_a_run_with_its_latency(bench, olga, form, do_jobs):
    empty = olga.get(page("live-list")).content.decode()
    answer = olga.post(page("live-new"), form)
    system = LiveSystem.objects.get()
    tried = olga.post(page("live-try", system.pk), {"query": 'what "is" <b>'}).content.decode()
    started = olga.post(page("live-ask", system.pk), {"run": "today", "may_fail": ""})
    do_jobs()
    run = Run.objects.get()
    detail = olga.get(page("live-detail", system.pk)).content.decode()
    latency = olga.get(page("run-latency", run.pk), headers={"HX-Request": "true"})
    chart = olga.get(page("run-latency-chart", run.pk, "csv")).content.decode()

    assert "No live system yet" in empty and "?preset=solr" in empty
    assert answer.url == page("live-detail", system.pk)
    assert "2 results" in tried and "Title 1" in tried
    assert "what \\&quot;is\\&quot; &lt;b&gt;" in tried
    assert started.url == Job.objects.get(kind="ask-system").get_absolute_url()
    assert f'href="/b/bench/runs/{run.pk}/">today</a>' in detail
    assert b"Retrieval latency" in latency.content and b"<html" not in latency.content
    assert sum(int(row.rsplit(",", 1)[1]) for row in chart.split()[1:]) == 2
    assert page("run-latency", run.pk) in olga.get(f"/b/bench/runs/{run.pk}/").content.decode()


def test_a_try_that_fails_says_why_and_shows_what_was_sent(server, olga, form):
    olga.post(page("live-new"), form)
    server.answer = lambda asked: Answer(b'{"hits": {}}')
    part = olga.post(
        page("live-try", LiveSystem.objects.get().pk),
        {"query": "x"},
        headers={"HX-Request": "true"},
    )
    text = part.content.decode()

    assert (part.status_code, "<html" in text) == (200, False)
    assert "its answer does not fit &#x27;hits.hits&#x27;" in text
    assert "Authorization: ApiKey $SEARCH_KEY" in text and "&quot;text&quot;: &quot;x&quot;" in text


def test_what_cannot_be_asked_at_all_is_told_beside_the_form(olga, form, settings):
    olga.post(page("live-new"), form)
    LiveSystem.objects.update(tried_at=timezone.now(), tried_well=True)
    settings.LIVE_PRIVATE_ADDRESSES = []
    result = olga.post(page("live-try", LiveSystem.objects.get().pk), {"query": "x"})

    assert result.status_code == 422
    assert "127.0.0.1 is not in the public network" in result.content.decode()
    assert not LiveSystem.objects.get().tried_well


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"url": "http://10.0.0.1/x"}, "url"),
        ({"url": "ftp://h.example/"}, "url"),
        ({"template": "{"}, "template"),
        ({"headers": "Authorization: Bearer written-out"}, "headers"),
        ({"headers": "X-Key: $OTHER"}, "headers"),
        ({"results_path": "a..b"}, "results_path"),
        ({"id_path": "a[*]"}, "id_path"),
        ({"k": "0"}, "k"),
        ({"requests_per_second": "0"}, "requests_per_second"),
    ],
)
def test_the_form_says_what_is_wrong_beside_its_field(olga, form, changed, field):
    response = olga.post(page("live-new"), {**form, **changed})

    assert (response.status_code, LiveSystem.objects.count()) == (422, 0)
    assert list(response.context["form"].errors) == [field]


def test_a_taken_name_is_told(olga, form):
    olga.post(page("live-new"), form)
    response = olga.post(page("live-new"), form)

    assert list(response.context["form"].errors) == ["name"]


def test_the_job_is_refused_beside_its_field(bench, olga, form):
    olga.post(page("live-new"), form)
    factories.run(bench, "q1 Q0 d1 1 1.0 x", name="today")
    response = olga.post(page("live-ask", LiveSystem.objects.get().pk), {"run": "today"})

    assert response.status_code == 422
    assert list(response.context["ask_form"].errors) == ["run"]


def test_who_keeps_the_benchmark_reads_which_queries_failed(
    bench, server, olga, form, do_jobs, signed_in
):
    olga.post(page("live-new"), form)
    system = LiveSystem.objects.get()
    server.scripted["second text"] = [Answer(b"<b>no</b>", status=400)]
    server.scripted["first text"] = [hits(("d1", 1.0), ("elsewhere", 0.5))]
    olga.post(page("live-ask", system.pk), {"run": "today", "may_fail": "1"})
    do_jobs()
    text = olga.get(page("live-detail", system.pk)).content.decode()
    vi = signed_in(factories.member(bench, "vi", "viewer"))
    hidden = vi.get(page("live-detail", system.pk)).content.decode()

    assert "HTTP 400 Bad Request: &lt;b&gt;no&lt;/b&gt;" in text and "elsewhere" in text
    assert "today" in hidden and "HTTP 400" not in hidden and "elsewhere" not in hidden


def test_editing_and_removing_keep_runs(bench, olga, form):
    olga.post(page("live-new"), form)
    system = LiveSystem.objects.get()
    factories.live_run(system)
    edited = olga.post(page("live-edit", system.pk), {**form, "name": "production", "k": 7})
    removed = olga.post(page("live-delete", system.pk))

    assert (edited.url, removed.url) == (page("live-detail", system.pk), page("live-list"))
    assert (LiveSystem.objects.count(), LiveRun.objects.get().system) == (0, None)


def test_a_page_open_for_a_while_does_not_put_back_what_another_has_changed(bench, olga, form):
    olga.post(page("live-new"), form)
    system = LiveSystem.objects.get()
    initials = opened(olga.get(page("live-edit", system.pk)).content.decode())
    fields = {name.removeprefix("initial-"): value for name, value in initials.items()}
    template = BODY.replace('"_source": false', '"tenant": "another"')
    olga.post(page("live-edit", system.pk), {**form, "template": template, "retries": 1})

    answer = olga.post(page("live-edit", system.pk), {**initials, **fields, "k": 7})

    system.refresh_from_db()
    assert (answer.status_code, system.k, system.retries) == (302, 7, 1)
    assert system.template == template


def test_a_live_run_says_so_on_its_page_and_in_the_list(bench, olga):
    live = factories.live_run(factories.live_system(bench), "q1 Q0 d1 1 1.0 s", name="asked")
    factories.run(bench, "q1 Q0 d1 1 1.0 s", name="given")
    text = olga.get(reverse("run-detail", args=["bench", live.pk])).content.decode()
    of_kind = olga.get(reverse("run-list", args=["bench"]), {"kind": "live"}).content.decode()

    assert "<li>Live</li>" in text
    assert "<td>Live</td>" in of_kind and ">asked</a>" in of_kind
    assert ">given</a>" not in of_kind


def test_viewers_see_neither_template_nor_address_nor_headers(bench, olga, form, signed_in):
    template = BODY.replace('"_source": false', '"tenant": "private-thing"')
    answer = olga.post(page("live-new"), {**form, "template": template})
    vi = signed_in(factories.member(bench, "vi", "viewer"))
    text = vi.get(answer.url).content.decode() + vi.get(page("live-list")).content.decode()
    results = vi.get("/api/v1/benchmarks/bench/live/").json()["results"][0]

    assert "staging" in text and "127.0.0.1:" in text
    for hidden in ("private-thing", "_search", "SEARCH_KEY", "Authorization", "hits.hits"):
        assert hidden not in text
        assert hidden not in json.dumps(results)
    assert (results["settings"], results["name"]) == (None, "staging")


def test_viewers_see_no_private_run_of_a_system(bench, olga, form, do_jobs, signed_in):
    answer = olga.post(page("live-new"), form)
    olga.post(
        page("live-ask", LiveSystem.objects.get().pk), {"run": "a private run", "may_fail": ""}
    )
    do_jobs()
    run = Run.objects.get()
    vi = signed_in(factories.member(bench, "vi", "viewer"))
    assert run.name in vi.get(answer.url).content.decode()

    Run.objects.update(visibility=Run.Visibility.OWNER)

    assert run.name not in vi.get(answer.url).content.decode()


def test_no_page_and_no_endpoint_tells_a_secret(bench, server, olga, form, do_jobs, caplog):
    """Also where the other side repeats it, in results and in errors."""
    olga.post(page("live-new"), form)
    system = LiveSystem.objects.get()
    server.answer = lambda asked: Answer(
        json.dumps({"error": asked.headers["authorization"]}).encode(), status=400
    )
    api = f"/api/v1/benchmarks/bench/live/{system.pk}/"
    answers = [
        olga.post(page("live-try", system.pk), {"query": "x"}),
        olga.post(f"{api}try/", {"query": "x"}, content_type="application/json"),
        olga.post(f"{api}ask/", {"run": "today"}, content_type="application/json"),
    ]
    do_jobs()
    job = Job.objects.get(kind="ask-system")
    answers += [
        olga.get(url)
        for url in (
            page("live-list"),
            page("live-detail", system.pk),
            page("live-edit", system.pk),
            job.get_absolute_url(),
            api,
            f"/api/v1/jobs/{job.pk}/",
            "/b/bench/activity/",
        )
    ]

    assert [SENTINEL in request.headers["authorization"] for request in server.asked] == [
        True
    ] * len(server.asked)
    assert job.state == Job.State.FAILED and "ApiKey •••" in job.error
    assert {answer.status_code for answer in answers} <= {200, 202}
    assert [answer for answer in answers if SENTINEL in answer.content.decode()] == []
    assert SENTINEL not in caplog.text


def test_the_api_makes_tries_asks_changes_and_removes(bench, server, olga, form, do_jobs):
    api = "/api/v1/benchmarks/bench/live/"
    send = {"content_type": "application/json"}
    created = olga.post(api, form, **send)
    address = f"{api}{created.json()['id']}/"
    tried = olga.post(f"{address}try/", {"query": "x"}, **send).json()
    changed = olga.patch(address, {"k": 3}, **send).json()
    wrong = olga.patch(address, {"template": "{}"}, **send)
    started = olga.post(f"{address}ask/", {"run": "by api"}, **send)
    busy = olga.delete(address)
    do_jobs()
    answer = olga.get(address).json()

    assert created.status_code == 201
    assert created.json()["settings"]["headers"] == "Authorization: ApiKey $SEARCH_KEY"
    assert (tried["status"], tried["why"], tried["n_results"]) == (200, "", 2)
    assert tried["results"][0] == {
        "rank": 1,
        "docid": "d1",
        "score": 2.0,
        "is_known": True,
        "title": "Title 1",
    }
    assert (changed["k"], wrong.status_code, wrong.json()["code"]) == (3, 422, "live-template")
    assert (started.status_code, started.json()["kind"]) == (202, "ask-system")
    assert (busy.status_code, busy.json()["code"]) == (409, "live-busy")
    assert [(run["name"], run["n_asked"], run["p50"] > 0) for run in answer["runs"]] == [
        ("by api", 2, True)
    ]
    assert olga.delete(address).status_code == 204


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"split": "test", "release": "1.0.0"}, "release"),
        ({"release": "9.9.9"}, "release"),
        ({"split": "nothing"}, "split"),
        ({"may_fail": -1}, "may_fail"),
    ],
)
def test_the_api_refuses_what_cannot_be_chosen(bench, olga, sent, field):
    system = factories.live_system(bench)
    url = f"/api/v1/benchmarks/bench/live/{system.pk}/ask/"
    response = olga.post(url, sent, content_type="application/json")

    assert (response.status_code, list(response.json()["errors"])) == (400, [field])


def test_the_command_makes_a_run_and_prints_what_was_noticed(bench, server, olga, form):
    olga.post(page("live-new"), form)
    server.scripted["second text"] = [hits()]
    out, err = io.StringIO(), io.StringIO()
    call_command("ask_system", "bench", "staging", run="by hand", stdout=out, stderr=err)

    assert out.getvalue() == "made run 'by hand'\n"
    assert err.getvalue() == (
        "note: 1 query was answered with an empty list; that is no failure.\n"
    )
    assert Run.objects.get().name == "by hand"


def test_the_command_ends_with_the_cause(bench, server, olga, form):
    olga.post(page("live-new"), form)
    server.answer = lambda asked: Answer(b"", status=404)
    with pytest.raises(CommandError, match="HTTP 404 Not Found"):
        call_command("ask_system", "bench", "staging")
    with pytest.raises(CommandError, match=r"has no live system 'other'\. There are: staging"):
        call_command("ask_system", "bench", "other")


def test_lists_ask_as_much_for_twenty_systems_as_for_two(
    bench, olga, django_assert_max_num_queries
):
    for n in range(2):
        factories.live_run(factories.live_system(bench), f"q{n} Q0 d1 1 1.0 s")
    olga.get(page("live-list"))
    with django_assert_max_num_queries(60) as few:
        olga.get(page("live-list"))
    for n in range(18):
        factories.live_run(factories.live_system(bench), f"q{n} Q0 d1 1 1.0 s")
    with django_assert_max_num_queries(len(few.captured_queries)):
        assert olga.get(page("live-list")).status_code == 200
