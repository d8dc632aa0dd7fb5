"""Stale labels of a release: what changed, what left the corpus, what is old."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from benchmarks_app import label_facts
from benchmarks_app.label_facts import LabelRecord, label_records
from benchmarks_app.models import Document, DocumentContent, QrelSet, Role
from benchwright.qrels.freshness import State
from scoring.planning.services.freshness import freshness_of_release
from tests import factories
from tests.annotation.making import judge, pool

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_cache():
    cache.clear()


@pytest.fixture
def recorded(monkeypatch):
    """A function that says what was read of d1 of q1, when every label is so many days old."""

    def record(read: str, days: int = 1) -> None:
        at = timezone.now() - timedelta(days=days)
        rows = [LabelRecord("q1", "d1", read, at)]
        monkeypatch.setattr(label_facts, "RECORDERS", [lambda qrel_set: rows])

    return record


def says(benchmark, docid: str, digest: str) -> None:
    document, _ = Document.objects.get_or_create(corpus=benchmark.corpus, docid=docid)
    DocumentContent.objects.create(document=document, content_hash=digest)


def test_a_label_for_another_text_is_stale(benchmark, release, recorded):
    recorded("as it was")
    says(benchmark, "d1", "as it was")
    fresh = freshness_of_release(release).report.overall
    cache.clear()
    says(benchmark, "d1", "as it is")

    stale = freshness_of_release(release).report

    assert (fresh.n, fresh.n_stale) == (6, 0)
    assert stale.overall.counts[State.CHANGED] == 1
    assert [label.docid for label, _ in stale.stale] == ["d1"]


def test_a_grade_below_0_is_no_label(benchmark, publish):
    release = publish(factories.qrel_set(benchmark, {("q1", "d1"): 1, ("q1", "d2"): -1}))

    assert freshness_of_release(release).report.overall.n == 1


def test_labels_grow_old(release, recorded):
    recorded("as it was", days=400)

    assert freshness_of_release(release).report.overall.counts[State.OLD] == 1
    assert freshness_of_release(release, days=500).report.overall.n_stale == 0


def test_imported_labels_are_as_old_as_their_qrels(release):
    QrelSet.objects.update(created_at=timezone.now() - timedelta(days=400))
    release.refresh_from_db()

    assert freshness_of_release(release).report.overall.counts[State.OLD] == 6


def test_documents_that_left_the_corpus_are_told(do_jobs):
    """The tiny benchmark's next snapshot changes one document and lacks another."""
    benchmark = factories.tiny_benchmark("tiny")
    release = factories.release(benchmark.qrel_sets.get(), by=factories.user("keeper"))
    do_jobs()
    docids = sorted(benchmark.qrel_sets.get().qrels.values_list("docid", flat=True))
    before = freshness_of_release(release).report.overall
    cache.clear()
    gone, changed = docids[0], docids[-1]

    _next_snapshot(benchmark, without=gone, changed=changed)
    report = freshness_of_release(release).report

    assert before.n_stale == 0
    assert {(label.docid, state) for label, state in report.stale} == {
        (gone, State.GONE),
        (changed, State.CHANGED),
    }


def _next_snapshot(benchmark, *, without: str, changed: str) -> None:
    import json

    from benchmarks_app.common.selectors.reading import corpus_reader
    from benchmarks_app.models import CorpusVersion

    rows = [
        {
            "_id": document.docid,
            "title": document.title,
            "text": "Something else." if document.docid == changed else document.text,
        }
        for document in corpus_reader(benchmark.current_corpus_version).iterate()
        if document.docid != without
    ]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    factories.imported(benchmark, content, "next.jsonl", kind="corpus")
    CorpusVersion.objects.update(state="ready")


def test_the_ledger_tells_what_was_read(benchmark):
    """Of two labels of a pair the newest counts; a settled one has its readers' text."""
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    for slot, who in zip(small_pool.slots.order_by("pk"), ("ada", "bo"), strict=True):
        judge(slot, factories.user(who), 2)
    benchmark.judgments.update()
    qrels = factories.qrel_set(benchmark, {("q1", "d1"): 2})
    qrels.as_of_event = benchmark.judgments.order_by("pk").last().pk

    result = label_records(qrels)

    assert result["q1", "d1"].labelled_at == benchmark.judgments.order_by("pk").last().created_at
    assert label_records(factories.qrel_set(benchmark, {("q1", "d2"): 1})) == {}


def test_queries_that_nobody_asks_any_more_are_counted(benchmark, release):
    now = timezone.now()
    benchmark.queries.filter(qid="q1").update(last_seen_at=now - timedelta(days=400))
    benchmark.queries.filter(qid="q2").update(last_seen_at=now)

    queries = freshness_of_release(release).queries

    assert (queries.n, queries.n_known, queries.n_old) == (3, 2, 1)


# --- pages ---------------------------------------------------------------------------------------


def test_page_and_file_list_stale_labels(client, benchmark, release, recorded):
    recorded("as it was")
    says(benchmark, "d1", "as it is")
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))

    html = client.get(reverse("scoring:freshness", args=[benchmark.slug])).content.decode()
    rows = client.get(reverse("scoring:freshness-csv", args=[benchmark.slug, "1.0.0"]))

    assert "says something else now" in html
    assert "16.7" in html
    assert rows.content.decode().splitlines()[1].startswith("q1,d1,says something else now,")


def test_of_hidden_queries_no_label_is_counted(client, benchmark, release, recorded, monkeypatch):
    from benchmarks_app.common.selectors.reading import release_qrels
    from scoring.scores.services import firewall

    recorded("as it was")
    says(benchmark, "d1", "as it is")
    monkeypatch.setattr(firewall, "hidden_queries", lambda release: frozenset({"q1"}))
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))

    rows = client.get(reverse("scoring:freshness-csv", args=[benchmark.slug, "1.0.0"]))
    answer = client.get(f"/api/v1/benchmarks/{benchmark.slug}/freshness/").json()

    assert rows.content.decode().splitlines() == ["query,document,why,labelled_at"]
    assert (answer["labels"][0]["share"], answer["labels"][0]["n_changed"]) == (0.0, 0)
    assert answer["labels"][0]["n"] == sum(
        len(of) for qid, of in release_qrels(release).items() if qid != "q1"
    )
