"""Benchmarks, queries, documents and runs through the API, on the tiny benchmark."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from benchmarks_app.api.base import Endpoint
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.queries.selectors import queries_in_draw
from benchmarks_app.queries.services import draw_families
from benchmarks_app.splits.services.contamination import clean_qids
from tests import factories

pytestmark = pytest.mark.django_db
AT = "/api/v1/benchmarks/tiny/"
RUN = "1 Q0 d-quote 1 2.0 s\n1 Q0 d-tab 2 1.0 s"


def signed_in(person) -> Client:
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def of(db, folders):
    return factories.tiny_benchmark("tiny")


@pytest.fixture
def owner(of) -> Client:
    return signed_in(factories.member(of, "olga", "owner"))


def test_settings_change_and_the_rest_stays(of, owner):
    changes = {"name": "Tiny", "text_format": "markdown"}
    answer = owner.patch(AT, changes, content_type="application/json").json()

    of.refresh_from_db()
    assert (answer["name"], of.visibility, of.corpus.text_format) == ("Tiny", "private", "markdown")
    wrong = owner.patch(AT, {"visibility": "secret"}, content_type="application/json")
    assert (wrong.status_code, list(wrong.json()["errors"])) == (400, ["visibility"])


@pytest.mark.parametrize(
    ("where", "changes"),
    [("", {"name": "Tiny"}), ("corpus/", {"lang": "de"})],
)
def test_what_another_owner_saves_meanwhile_stays(of, owner, monkeypatch, where, changes):
    """Of a split that was hidden at that moment, all grades would have been told again."""
    asked_for = Endpoint.benchmark_for

    def hidden_meanwhile(self, action):
        benchmark = asked_for(self, action)
        Benchmark.objects.filter(pk=of.pk).update(hidden_splits=["test"], licence="CC0")
        return benchmark

    monkeypatch.setattr(Endpoint, "benchmark_for", hidden_meanwhile)

    answer = owner.patch(f"{AT}{where}", changes, content_type="application/json")

    of.refresh_from_db()
    assert (answer.status_code, of.hidden_splits, of.licence) == (200, ["test"], "CC0")


def test_queries_and_documents_are_those_of_the_pages(of, owner):
    query = of.queries.get(qid="1")
    first, _ = query.text.split(maxsplit=1)

    rows = owner.get(f"{AT}queries/?q={first}").json()["results"]
    document = owner.get(f"{AT}documents/d-quote/").json()
    answer = owner.get(f"{AT}search/?q=d-quote").json()

    assert query.pk in {row["id"] for row in rows}
    assert all(first.lower() in row["text"].lower() for row in rows)
    assert owner.get(f"{AT}queries/{query.pk}/").json()["text"] == query.text
    assert document["text"]
    assert owner.get(f"{AT}documents/no/such/").status_code == 404
    assert "/b/tiny/documents/d-quote/" in {hit["url"] for hit in answer}


def test_runs_are_listed_and_name_no_anonymous_owner(of, owner):
    sam = factories.member(of, "sam", "submitter")
    later = timezone.now() + timedelta(days=1)
    run = factories.run(of, RUN, name="secret", owner=sam, kind=Run.Kind.SUBMITTED)
    Run.objects.filter(pk=run.pk).update(
        anonymous_until=later, metadata={"repository": "https://example.org/sam", "model": "m"}
    )
    viewer = signed_in(factories.member(of, "vi", "viewer"))

    [listed] = viewer.get(f"{AT}runs/?kind=submitted").json()["results"]
    answer = viewer.get(f"{AT}runs/{run.pk}/").json()

    assert (listed["owner"], answer["owner"]) == ("anonymous", "anonymous")
    assert "sam" not in str(answer)
    assert owner.get(f"{AT}runs/{run.pk}/").json()["owner"] == "sam"
    assert viewer.get(f"{AT}runs/?kind=baseline").json()["results"] == []


def test_a_run_of_a_query_stands_beside_its_grades(of, owner):
    run = factories.run(of, RUN, name="bm25")
    factories.release(of.qrel_sets.get(), "1.0.0", by=of.memberships.get().user)
    job = owner.post(f"{AT}runs/score/", {}, content_type="application/json").json()
    jobs.run_queued()

    answer = owner.get(f"{AT}runs/{run.pk}/queries/1/").json()
    reliable = owner.get(f"{AT}reliability/").json()

    assert job["kind"]
    assert [row["document"] for row in answer["found"]] == ["d-quote", "d-tab"]
    grades = dict(of.qrel_sets.get().qrels.filter(query__qid="1").values_list("docid", "grade"))
    assert [row["grade"] for row in answer["found"]] == [
        grades.get(docid) for docid in ("d-quote", "d-tab")
    ]
    assert reliable["n_queries"] == of.queries.count()
    assert owner.get(f"{AT}runs/{run.pk}/queries/nothing/").status_code == 404


def test_lists_of_queries_come_in_pages(of, owner):
    draw = draw_families(benchmark=of, n=2, user=of.memberships.get().user)
    check = factories.contamination_check(of, result={"slices": []})

    split = owner.get(f"{AT}splits/queries/?limit=200").json()["results"]
    clean = owner.get(f"{AT}contamination/{check.pk}/clean/?limit=1").json()
    drawn = owner.get(f"{AT}query-draws/{draw.pk}/queries/").json()["results"]

    assert {row["query"] for row in split} == set(of.queries.values_list("qid", flat=True))
    assert clean["results"] == [{"query": clean_qids(check)[0]}]
    assert clean["next"]
    assert [(row["query"], row["family"]) for row in drawn] == queries_in_draw(draw)
    assert len(drawn) >= 2
