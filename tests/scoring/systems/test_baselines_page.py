"""The page of baselines and its API: what is made, how it stands, what others report beside it."""

import sys

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job, Run
from benchwright.retrieval import catalog
from benchwright.retrieval.catalog import CATALOG, MissingExtraError, entry_named
from scoring.boards.services.reported import enter_reported
from scoring.models import Retrieval, RunLatencies
from scoring.systems.selectors import baseline_rows, system_rows
from scoring.systems.services.baseline_timing import Taken, hardware, memory_watched, timed_results
from scoring.systems.services.baselines import start_baselines
from tests import factories
from tests.open_pages import misnamed

pytestmark = pytest.mark.django_db
PAGE = reverse("scoring:baseline-list", args=["texts"])
API = "/api/v1/benchmarks/texts/baselines/"


@pytest.fixture
def scored_release(texts, tess, publish):
    """Runs of two systems, scored on a release."""
    release = publish(factories.qrel_set(texts, {("q1", "d0"): 2}))
    start_baselines(benchmark=texts, user=tess, systems=["bm25", "tfidf-word"])
    jobs.run_queued()
    return release


def state_of(benchmark, system: str) -> str:
    rows = system_rows(baseline_rows(benchmark, benchmark.memberships.get(role="owner").user, {}))
    return next(row.state for row in rows if row.entry.name == system)


# --- the catalog ---------------------------------------------------------------------------


def test_system_without_its_package_is_listed_and_says_which_extra(monkeypatch):
    monkeypatch.setattr(catalog.importlib.util, "find_spec", lambda name: None)

    with pytest.raises(MissingExtraError, match=r"pip install 'benchwright\[demo\]'"):
        entry_named("wordllama").searcher([("d1", "a")])
    assert not CATALOG["hybrid-rrf"].is_available
    assert CATALOG["bm25"].is_available


def test_facts_say_method_type_and_parameters():
    facts = entry_named("bm25-stem").facts("german")

    assert facts["type"] == "sparse"
    assert facts["index"] == "exact"
    assert facts["parameters"] == "language=de, k1=1.2, b=0.75"
    assert entry_named("tfidf-word").facts("en")["parameters"] == "language=en"


def test_dense_and_hybrid_systems_find_what_the_text_answers():
    documents = [("d1", "a river of water"), ("d2", "computer programs"), ("d3", "paper")]

    for name in ("wordllama", "hybrid-rrf"):
        ((qid, answer),) = entry_named(name).searcher(documents).search([("q", "software")], k=2)
        assert (qid, answer[0][0], len(answer)) == ("q", "d2", 2)


# --- timing --------------------------------------------------------------------------------


class Slow:
    """Takes as many steps of the clock for a query as its text has characters."""

    def search(self, queries, *, k, progress=None):
        for qid, text in queries:
            for _ in text:
                clock.tick()
            yield qid, [("d", 1.0)]


class Clock:
    now = 0.0

    def tick(self) -> None:
        self.now += 0.001

    def __call__(self) -> float:
        return self.now


clock = Clock()


def test_each_query_is_timed_alone_and_the_first_once_before(monkeypatch):
    monkeypatch.setattr("scoring.systems.services.baseline_timing.perf_counter", clock)
    taken = Taken()

    items = list(timed_results(Slow(), [("a", "123"), ("b", "1")], k=1, taken=taken))

    assert [qid for qid, _ in items] == ["a", "b"]
    assert taken.milliseconds == pytest.approx({"a": 3.0, "b": 1.0})


def test_shards_side_by_side_take_what_the_slowest_takes():
    one, other = Taken(2.0, 10, {"q": 1.0}), Taken(1.0, None, {"q": 4.0})

    whole = Taken.side_by_side([one, other])

    assert (whole.indexing_seconds, whole.memory_bytes, whole.milliseconds) == (2.0, 10, {"q": 4.0})


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of a process")
def test_memory_is_what_was_held_at_most_beyond_what_was_held_before():
    taken = Taken()

    with memory_watched(taken):
        held = bytearray(b"x" * 50_000_000)
        del held

    assert 40_000_000 < taken.memory_bytes < 150_000_000


def test_hardware_does_not_name_the_machine(monkeypatch):
    monkeypatch.setattr("platform.node", lambda: "secret-host")

    assert "cores" in hardware()
    assert "secret-host" not in hardware()


# --- the page ------------------------------------------------------------------------------


def test_the_chart_of_each_run_has_an_id_of_its_own(scored_release, tess, signed_in):
    page = signed_in(tess).get(PAGE).content.decode()

    assert page.count('<figure id="chart-latency') == 2
    assert misnamed(page) == []


def test_page_shows_quality_beside_latency_and_facts(scored_release, tess, signed_in):
    page = signed_in(tess).get(PAGE)

    text = page.content.decode()
    for words in ("nDCG@10", "Recall@100", "Judged@10", " ms</td>", "Benchwright ", "exact"):
        assert words in text
    rows = {row.run.name: row for row in page.context["rows"]}
    assert rows["bm25"].board.scores["nDCG@10"] is not None
    assert rows["bm25"].latencies.n_queries == 3
    chart = reverse("scoring:run-latency-chart", args=["texts", rows["bm25"].run.pk, "svg"])
    assert chart in text
    assert text.count("<dt>Corpus<") == 0 < text.count(">Corpus version</dt>")


def test_pool_form_comes_with_the_runs_chosen(scored_release, tess, signed_in):
    client = signed_in(tess)

    form = client.get(client.get(PAGE).context["pool_url"]).context["form"]

    chosen = Run.objects.filter(pk__in=form["runs"].value())
    assert {run.name for run in chosen} == {"bm25", "tfidf-word"}


def test_form_starts_a_job_for_each_system_and_shows_its_progress(texts, tess, signed_in):
    client = signed_in(tess)
    asked = {"systems": ["bm25", "tfidf-char"], "language": "de", "depth": 7}

    posted = client.post(PAGE, asked)

    started = Job.objects.filter(kind="make-baselines").order_by("pk")
    assert posted.url == PAGE
    assert [job.parameters["system"] for job in started] == ["bm25", "tfidf-char"]
    assert {(job.parameters["language"], job.parameters["depth"]) for job in started} == {("de", 7)}
    part = client.get(reverse("scoring:baseline-progress", args=["texts"]), headers=HTMX)
    assert "tfidf-char" in part.content.decode()
    assert "HX-Refresh" not in part.headers
    jobs.run_queued()
    part = client.get(reverse("scoring:baseline-progress", args=["texts"]), headers=HTMX)
    assert part.headers["HX-Refresh"] == "true"


HTMX = {"HX-Request": "true"}


def test_same_baseline_is_not_started_twice(texts, tess):
    assert len(start_baselines(benchmark=texts, user=tess, systems=["bm25"])) == 1
    assert start_baselines(benchmark=texts, user=tess, systems=["bm25"]) == []
    jobs.run_queued()
    assert start_baselines(benchmark=texts, user=tess, systems=["bm25"]) == []
    assert len(start_baselines(benchmark=texts, user=tess, systems=["bm25"], depth=5)) == 1


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"language": "en", "depth": 10}, "Choose a system."),
        ({"systems": ["magic"], "language": "en", "depth": 10}, "magic is not one of"),
        ({"systems": ["bm25"], "language": "xx", "depth": 10}, "xx is not one of"),
        (
            {"systems": ["bm25"], "language": "en", "depth": 0},
            "Expected a whole number from 1 to 1,000,000.",
        ),
    ],
)
def test_form_that_is_wrong_starts_nothing(texts, tess, signed_in, sent, words):
    answer = signed_in(tess).post(PAGE, sent)

    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Job.objects.filter(kind="make-baselines").exists()


def test_missing_package_is_said_on_the_page(texts, tess, signed_in, monkeypatch):
    monkeypatch.setattr(catalog.importlib.util, "find_spec", lambda name: None)

    page = signed_in(tess).get(PAGE).content.decode()
    sent = {"systems": ["wordllama"], "language": "en", "depth": 10}
    answer = signed_in(tess).post(PAGE, sent)

    assert "not installed" in page
    assert 'value="wordllama" id="system-wordllama" disabled' in page
    assert answer.status_code == 422
    assert "WordLlama needs a package" in answer.content.decode()


def test_failed_job_says_so_on_the_page_to_who_edits(texts, tess, signed_in):
    (job,) = start_baselines(benchmark=texts, user=tess, systems=["bm25"])
    Job.objects.filter(pk=job.pk).update(state="failed", error="It broke.")
    viewer = factories.member(texts, "viewer", "viewer")

    assert (
        'was not made: <span lang="en">It broke.</span>'
        in signed_in(tess).get(PAGE).content.decode()
    )
    assert "It broke." not in signed_in(viewer).get(PAGE).content.decode()


def test_new_corpus_version_and_new_queries_make_a_baseline_stale(scored_release, texts):
    assert (state_of(texts, "bm25"), state_of(texts, "bm25-stem")) == ("made", "missing")
    factories.query(texts, "q9", "late")

    assert state_of(texts, "bm25") == "stale"
    viewer = texts.memberships.get(role="owner").user
    (row, _) = baseline_rows(texts, viewer, {})
    assert row.stale == "made for 3 queries, now 4"
    Retrieval.objects.update(corpus_version=None)
    (row, _) = baseline_rows(texts, viewer, {})
    assert row.stale.startswith("made on a version that is gone of the corpus, now 1;")


def test_baseline_of_an_earlier_site_is_shown_as_one_of_unknown_corpus(texts, tess, signed_in):
    run = factories.run(texts, "q1 Q0 d1 1 1 s", name="bm25", owner=tess)
    Run.objects.filter(pk=run.pk).update(kind="baseline", metadata={"system": "bm25"})

    page = signed_in(tess).get(PAGE)

    assert page.status_code == 200
    assert state_of(texts, "bm25") == "stale"


def test_private_run_of_another_is_not_on_the_page(scored_release, texts, signed_in):
    Run.objects.filter(name="bm25").update(visibility="owner")
    viewer = factories.member(texts, "viewer", "viewer")

    page = signed_in(viewer).get(PAGE)

    assert [row.run.name for row in page.context["rows"]] == ["tfidf-word"]
    assert "Make more" not in page.content.decode()


def test_page_of_ids_only_says_why_nothing_can_be_made(benchmark, owner, signed_in):
    page = signed_in(owner).get(reverse("scoring:baseline-list", args=["stdlib"]))

    assert "holds ids only" in page.content.decode()


def test_page_asks_as_often_for_two_runs_as_for_many(scored_release, texts, tess, signed_in):
    client = signed_in(tess)
    client.get(PAGE)
    with CaptureQueriesContext(connection) as few:
        client.get(PAGE)
    for run in Run.objects.filter(name="bm25"):
        for n in range(18):
            kept, timed = Retrieval.objects.get(run=run), RunLatencies.objects.get(run=run)
            made_of = Run.objects.get(pk=run.pk)
            made_of.pk, made_of.name = None, f"bm25 {n}"
            made_of.save(force_insert=True)
            for row in (kept, timed):
                row.pk, row.run = None, made_of
                row.save(force_insert=True)

    with CaptureQueriesContext(connection) as many:
        page = client.get(PAGE)

    assert len(page.context["rows"]) == 20
    assert len(many) == len(few)


# --- reported values beside ours -----------------------------------------------------------


def test_reported_value_stands_beside_ours_with_the_difference(
    scored_release, texts, tess, signed_in
):
    fields = {"benchmark": texts, "user": tess, "source": "10.1145/1571941.1572114"}
    enter_reported(system="BM25", measure="nDCG@10", value=0.25, note="other stemmer", **fields)
    enter_reported(system="unheard of", measure="nDCG@10", value=0.5, **fields)

    page = signed_in(tess).get(PAGE)

    ours, none = page.context["beside"]
    mean = ours.run.score_sets.get().scores.get(measure="nDCG@10", slice_name="").mean
    assert (ours.run.name, ours.ours, ours.difference) == ("bm25", mean, mean - 0.25)
    assert (none.run, none.difference) == (None, None)
    text = page.content.decode()
    assert 'href="https://doi.org/10.1145/1571941.1572114"' in text
    assert "other stemmer" in text
    assert "none here" in text


# --- API -----------------------------------------------------------------------------------


def test_api_lists_systems_with_their_runs(scored_release, tess, signed_in):
    answer = signed_in(tess).get(API).json()

    by_name = {row["name"]: row for row in answer}
    assert list(by_name) == list(CATALOG)
    assert (by_name["bm25"]["state"], by_name["bm25-stem"]["state"]) == ("made", "missing")
    (run,) = by_name["bm25"]["runs"]
    assert (run["language"], run["depth"], run["corpus_version"]) == ("en", 100, 1)
    assert run["latency_p50_ms"] > 0
    assert set(run["scores"]) == {"nDCG@10", "RR@10", "R@100", "Judged@10"}


def test_api_starts_jobs_and_gives_the_latency_of_each_query(texts, tess, signed_in):
    client = signed_in(tess)

    sent = client.post(API, {"systems": ["bm25"], "depth": 3}, content_type="application/json")
    jobs.run_queued()

    assert sent.status_code == 202
    assert [job["kind"] for job in sent.json()] == ["make-baselines"]
    run = Run.objects.get(name="bm25")
    kept = client.get(f"/api/v1/benchmarks/texts/runs/{run.pk}/latencies/").json()
    assert set(kept["milliseconds"]) == {"q1", "q2", "q3"}
    assert kept["p50"] == run.latencies.p50


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        ({"systems": ["magic"]}, 422, "unknown-system"),
        ({"systems": []}, 422, "no-system"),
        ({"language": "!"}, 422, "unknown-language"),
        ({"depth": 10_000_000}, 400, "invalid"),
        ({"depth": 201}, 422, "retrieval-depth"),
    ],
)
def test_api_refuses_with_a_code(texts, tess, signed_in, settings, sent, status, code):
    settings.RUN_MAX_DEPTH = 200
    answer = signed_in(tess).post(API, sent, content_type="application/json")

    assert (answer.status_code, answer.json()["code"]) == (status, code)
