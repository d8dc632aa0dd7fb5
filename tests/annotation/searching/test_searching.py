"""Searching beside a query: what is found, who sees what of it, and where a grade goes."""

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.judging.protocol.errors import ClientIdReusedError
from annotation.models import Judgment, Pool, PoolEntry, Slot
from annotation.searching import selectors
from annotation.searching.services import grade_found, start_indexing
from benchmarks_app.jobs.services import jobs
from benchwright.errors import BenchmarkError
from benchwright.retrieval import word_index
from tests import factories
from tests.annotation import making

pytestmark = pytest.mark.django_db

CORPUS = b"""{"_id": "d1", "title": "Logs", "text": "how to rotate log files"}
{"_id": "d2", "title": "Fish", "text": "goldfish in a bowl"}
{"_id": "d3", "title": "", "text": "rotating tyres"}
{"_id": "d4", "title": "Bowls", "text": "a bowl of soup"}
"""


@pytest.fixture
def benchmark(db):
    benchmark = factories.texts_benchmark(slug="searched")
    factories.imported(benchmark, CORPUS, "corpus.jsonl")
    factories.query(benchmark, "q1", "rotate logs")
    return benchmark


@pytest.fixture
def query(benchmark):
    return benchmark.queries.get()


@pytest.fixture
def indexed(benchmark, owner):
    start_indexing(benchmark=benchmark, user=owner)
    jobs.run_queued()
    return benchmark


def page(client, query, **asked):
    url = reverse("annotation:query-search", args=[query.benchmark.slug, query.pk])
    return client.get(url, asked)


def graded(client, query, docid: str, grade: int, **more):
    url = reverse("annotation:found-grade", args=[query.benchmark.slug, query.pk])
    values = {"docid": docid, "grade": grade, "client_id": uuid4(), "row": 1, **more}
    return client.post(url, values)


def test_a_corpus_is_made_searchable_first(benchmark, query, owner, signed_in):
    client = signed_in(owner)
    assert "Make it searchable" in page(client, query).content.decode()

    response = client.post(reverse("annotation:words-index", args=[benchmark.slug]))
    assert response.status_code == 302
    assert "being made searchable" in page(client, query).content.decode()
    jobs.run_queued()

    assert selectors.indexing_job(benchmark).result == {"n_documents": 4}
    assert [row.docid for row in page(client, query).context["found"]] == ["d1", "d3"]


def test_api_says_that_a_corpus_is_not_searchable_and_nothing_of_the_sites_folders(
    benchmark, query, owner, signed_in, settings
):
    url = f"/api/v1/benchmarks/{benchmark.slug}/queries/{query.pk}/search/"

    answer = signed_in(owner).get(url)

    assert (answer.status_code, answer.json()["code"]) == (409, "not-searchable")
    assert "not searchable yet" in answer.json()["detail"]
    assert str(settings.DATA_DIR) not in answer.content.decode()


def test_words_that_take_too_long_are_told_without_the_sites_folders(
    indexed, query, owner, signed_in, settings, monkeypatch
):
    monkeypatch.setattr(word_index, "MOST_LOOKS", 0)
    monkeypatch.setattr(word_index, "STEPS", 1)
    url = f"/api/v1/benchmarks/{indexed.slug}/queries/{query.pk}/search/"

    answer = signed_in(owner).get(url)

    assert (answer.status_code, answer.json()["code"]) == (409, "search-too-long")
    assert str(settings.DATA_DIR) not in answer.content.decode()
    assert "That took too long" in page(signed_in(owner), query).content.decode()


def test_one_job_at_a_time_makes_it_searchable(benchmark, owner):
    first = start_indexing(benchmark=benchmark, user=owner)

    assert start_indexing(benchmark=benchmark, user=owner) == first


def test_other_words_find_other_documents_without_judged_ones(indexed, query, owner, signed_in):
    client = signed_in(owner)
    assert [row.docid for row in page(client, query, q="bowl").context["found"]] == ["d4", "d2"]
    graded(client, query, "d4", 1)

    result = page(client, query, q="bowl", unjudged="on").context["found"]
    assert [row.docid for row in result] == ["d2"]


def test_a_grade_without_a_pool_stands_in_the_ledger(indexed, query, owner, signed_in):
    client = signed_in(owner)
    graded(client, query, "d1", 1)
    graded(client, query, "d1", 0)

    events = list(Judgment.objects.order_by("pk").values_list("docid", "grade", "source", "pool"))
    assert events == [("d1", 1, "search", None), ("d1", 0, "search", None)]
    current = Judgment.objects.current().get()
    assert (current.grade, current.content_hash != "") == (0, True)
    assert page(client, query).context["found"][0].grades.own == 0


def test_what_is_found_joins_the_open_pool_by_hand(indexed, query, owner, ada, signed_in):
    run = factories.run(indexed, "q1 Q0 d2 1 1.0 s")
    pool = factories.depth_pool(indexed, [run])
    before = (pool.n_entries, pool.n_wanted)
    client = signed_in(owner)

    graded(client, query, "d1", 1)

    pool.refresh_from_db()
    entry = PoolEntry.objects.get(document__docid="d1")
    assert (entry.origin, entry.best_rank, entry.pool) == ("manual", None, pool)
    assert (pool.n_entries, pool.n_wanted) == (before[0] + 1, before[1] + pool.overlap)
    assert entry.slots.get(annotator=owner).state == Slot.State.DONE
    assert Judgment.objects.get().pool == pool
    # What is in the pool already is graded there, and no second entry is made.
    graded(client, query, "d2", 0)
    graded(client, query, "d1", 0)
    assert PoolEntry.objects.count() == 2
    assert Judgment.objects.current().get(docid="d1").grade == 0


def test_the_same_form_twice_changes_nothing(indexed, query, owner, signed_in):
    client, page_id = signed_in(owner), uuid4()
    for _ in range(2):
        assert graded(client, query, "d1", 1, client_id=page_id).status_code == 302

    assert Judgment.objects.count() == 1


def test_a_client_id_that_stands_for_another_grade_is_refused(indexed, query, owner):
    fields = {"query": query, "docid": "d1", "actor": owner, "grade": 1, "client_id": uuid4()}
    grade_found(**fields)

    for another in ({"grade": 0}, {"docid": "d3"}):
        with pytest.raises(ClientIdReusedError):
            grade_found(**{**fields, **another})


def test_a_grade_that_was_saved_alone_is_there_though_a_pool_was_opened_since(
    indexed, query, owner
):
    fields = {"query": query, "docid": "d1", "actor": owner, "grade": 1, "client_id": uuid4()}
    grade_found(**fields)
    factories.depth_pool(indexed, [factories.run(indexed, "q1 Q0 d2 1 1.0 s")])

    grade_found(**fields)

    assert Judgment.objects.count() == 1


def test_a_grade_of_who_settled_the_document_leaves_that_as_it_is(indexed, query, owner):
    settled = Judgment.objects.create(
        benchmark=indexed, query=query, docid="d1", kind="adjudicate", outcome="override",
        grade=0, reason="No", actor=owner, client_id=uuid4(),
    )  # fmt: skip

    grade_found(query=query, docid="d1", actor=owner, grade=1, client_id=uuid4())

    assert Judgment.objects.filter(superseded_by=None).contains(settled)


def test_a_grade_that_the_scale_lacks_and_a_document_that_the_corpus_lacks(indexed, query, owner):
    with pytest.raises(BenchmarkError, match="7"):
        grade_found(query=query, docid="d1", actor=owner, grade=7, client_id=uuid4())
    assert not Judgment.objects.exists()


def test_an_unknown_document_is_not_found(indexed, query, owner, signed_in):
    assert graded(signed_in(owner), query, "nothing", 1).status_code == 404
    assert not PoolEntry.objects.exists()


def test_adjudicators_see_their_own_grades_alone(indexed, query, owner, signed_in):
    bo = factories.member(indexed, "bo", "adjudicator")
    grade_found(query=query, docid="d1", actor=owner, grade=1, client_id=uuid4())
    grade_found(query=query, docid="d3", actor=bo, grade=0, client_id=uuid4())

    of_bo = selectors.grades_of(query, bo, sees_others=False)
    assert {docid: grades.labels for docid, grades in of_bo.items()} == {"d3": [0]}
    text = page(signed_in(bo), query).content.decode()
    assert "1 document with a grade of yours" in text and "by 1 person" in text
    assert text.count("not judged") == 1  # d1, which only the owner judged


def test_runs_that_have_a_document_are_counted(indexed, query, owner, signed_in):
    factories.run(indexed, "q1 Q0 d3 1 2.0 s\nq1 Q0 d1 2 1.0 s", name="a")
    factories.run(indexed, "q1 Q0 d1 1 2.0 s", name="b")
    ranks = {row.docid: row.ranks for row in page(signed_in(owner), query).context["found"]}

    assert ranks == {"d1": [1, 2], "d3": [1]}


def test_what_all_runs_have_first_and_nobody_wants_is_doubted(indexed, query, owner, signed_in):
    for name in "ab":
        factories.run(indexed, "q1 Q0 d2 1 2.0 s\nq1 Q0 d1 2 1.0 s", name=name)
    client = signed_in(owner)
    graded(client, query, "d2", 0)
    graded(client, query, "d1", 1)

    assert [row.docid for row in page(client, query).context["doubtful"]] == ["d2"]


def test_grades_are_medians_and_disputes_are_told(indexed, query, owner):
    labels = selectors.Grades(labels=[3, 0, 1])
    assert (labels.value, labels.is_disputed) == (1, True)
    assert selectors.Grades(labels=[1, 2]).value == 1
    assert selectors.Grades(labels=[1, 2], settled=3).value == 3
    assert selectors.Grades().value is None


def test_who_was_asked_in_two_pools_has_one_grade_the_newest(benchmark, query, owner, ada):
    for grade in (0, 2):
        small_pool = making.pool(benchmark, {"q1": ["d1"]})
        making.judge(small_pool.slots.get(), ada, grade)

    grades = selectors.grades_of(query, owner, sees_others=True)["d1"]

    assert (grades.labels, grades.value, grades.is_disputed) == ([2], 2, False)


def test_as_often_asked_for_many_documents_as_for_few(indexed, query, owner, signed_in):
    client = signed_in(owner)
    grade_found(query=query, docid="d1", actor=owner, grade=1, client_id=uuid4())
    page(client, query)
    few = n_statements(client, query)
    for docid in ("d2", "d3", "d4"):
        grade_found(query=query, docid=docid, actor=owner, grade=0, client_id=uuid4())

    assert n_statements(client, query) == few


def n_statements(client, query) -> int:
    with CaptureQueriesContext(connection) as asked:
        page(client, query, q="rotate bowl")
    return len(asked)


def test_ids_only_cannot_be_searched(owner, signed_in):
    benchmark = factories.benchmark("ids-only")
    factories.member(benchmark, "olga2", "owner")
    query = factories.query(benchmark, "q1", "words")
    user = benchmark.memberships.get().user

    assert "nothing to search in" in page(signed_in(user), query).content.decode()


# --- annotators who are permitted ----------------------------------------------------------------


@pytest.fixture
def permitted(indexed, query, ada):
    """An open pool of one document in which Ada judges, and may search."""
    run = factories.run(indexed, "q1 Q0 d2 1 1.0 s")
    pool = factories.depth_pool(indexed, [run])
    making.begun(pool, ada)
    Pool.objects.filter(pk=pool.pk).update(may_search=True)
    return pool


def test_annotator_searches_and_grades_where_the_owner_lets_them(
    permitted, query, ada, owner, signed_in
):
    client = signed_in(ada)
    counts = Pool.objects.values_list("n_entries", "n_wanted").get()

    result = page(client, query, q="bowl").context["found"]
    graded(client, query, "d4", 1)
    # In the pool already: nothing that changes tells so.
    graded(client, query, "d2", 0)

    assert [row.docid for row in result] == ["d4", "d2"]
    assert all(row.n_runs == 0 for row in result)
    assert Pool.objects.values_list("n_entries", "n_wanted").get() == counts
    alone = Judgment.objects.filter(source="search", pool=None, actor=ada)
    assert set(alone.values_list("docid", "grade")) == {("d4", 1), ("d2", 0)}
    row = page(signed_in(owner), query, q="bowl").context["found"][0]
    assert row.grades.labels == [1]


def test_annotator_sees_neither_runs_nor_grades_of_others(permitted, query, ada, owner, signed_in):
    graded(signed_in(owner), query, "d1", 1)
    graded(signed_in(owner), query, "d2", 1)

    answer = page(signed_in(ada), query, q="bowl logs")

    html = answer.content.decode()
    assert answer.context["n_graded"] == 0
    assert "runs" not in html.split("<main")[1].split("</main>")[0]
    assert html.count("not judged") == len(answer.context["found"])


def test_hidden_checks_of_ones_own_stand_like_other_labels(permitted, query, ada, owner, signed_in):
    (slot,) = making.claimed(permitted, ada)
    Slot.objects.filter(pk=slot.pk).update(kind=Slot.Kind.GOLD)
    making.judge(slot, ada, 1)
    assert Judgment.objects.get().purpose == Slot.Kind.GOLD

    rows = page(signed_in(ada), query, q="bowl").context["found"]

    assert {row.docid: row.grades.own for row in rows} == {"d4": None, "d2": 1}


def not_permitted(pool):
    Pool.objects.update(may_search=False)


def for_others(pool):
    pool.pool_annotators.create(annotator=factories.user("somebody"))


def closed(pool):
    Pool.objects.update(state="closed")


def not_begun(pool):
    pool.starts.all().delete()


@pytest.mark.parametrize("change", [not_permitted, for_others, closed, not_begun])
def test_annotators_search_nowhere_else(permitted, query, ada, signed_in, change):
    change(permitted)

    client = signed_in(ada)
    assert page(client, query).status_code == 403
    assert graded(client, query, "d1", 1).status_code == 403


def test_permission_is_given_on_the_pools_page_and_told_at_home(permitted, ada, owner, signed_in):
    url = reverse("annotation:pool-settings", args=["searched", permitted.pk])
    making.claimed(permitted, ada)
    home = permitted.benchmark.get_absolute_url()
    assert "Search beside this query" in signed_in(ada).get(home).content.decode()

    signed_in(owner).post(url, {"assignment": "anybody"})

    permitted.refresh_from_db()
    assert not permitted.may_search
    assert "Search beside this query" not in signed_in(ada).get(home).content.decode()


# --- the index follows the corpus ----------------------------------------------------------------


def test_corpus_is_made_searchable_after_each_import(benchmark, settings):
    settings.SEARCHABLE_MAX_DOCS = 4
    more = CORPUS + b'{"_id": "d5", "title": "Boats", "text": "a bowl of boats"}\n'
    factories.imported(
        benchmark, CORPUS.replace(b"soup", b"tea"), "corpus.jsonl", corpus={"take": True}
    )
    jobs.run_queued()
    assert selectors.word_index_path(benchmark).exists()
    documents, _ = selectors.found_documents(benchmark, "tea", but=(), number=1)
    assert documents == ["d4"]

    # More documents than are made searchable by themselves.
    factories.imported(benchmark, more, "corpus.jsonl", corpus={"take": True})
    jobs.run_queued()
    assert not selectors.word_index_path(benchmark).exists()
