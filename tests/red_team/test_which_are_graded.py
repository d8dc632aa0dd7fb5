"""Which queries of a hidden split have grades: told by nothing that anybody but a keeper gets.

A benchmark is there twice: of two hidden queries the one has grades in it, and the other in the
second. The run answers one of them, with documents that nobody has judged: all means are the same.
"""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from benchmarks_app.slices.services.changes import register_slice
from benchwright.releases.options import ReleaseOptions
from scoring.scores.services.scoring import Target, score_run
from tests import factories
from tests.scoring.hiding import HIDDEN, hiding_benchmark, lines, plain_run

pytestmark = pytest.mark.django_db
ONE, OTHER = HIDDEN[0], "u0"
OTHERS = ("anonymous", "vi", "sam")


def benchmark_without(ungraded: str, slug: str) -> SimpleNamespace:
    """The benchmark in which one of the two has no grade, with a run that does not answer `ONE`."""
    benchmark = hiding_benchmark(slug)
    other = factories.query(benchmark, OTHER, family=benchmark.families.create(split="test"))
    if ungraded == ONE:
        grades = benchmark.qrel_sets.get().qrels.filter(query__qid=ONE)
        grades.update(query=other, docid=f"{OTHER}-good")
    queries = {query.qid: query for query in benchmark.queries.all()}
    whole = factories.query_slice(benchmark, "whole", *queries.values())
    register_slice(of=whole, actor=factories.user("keeper"))
    factories.query_slice(benchmark, "one", queries[ONE])
    options = ReleaseOptions(measures=["nDCG@10", "RR@10"])
    release = factories.release(benchmark.qrel_sets.get(), options=options)
    members = {
        name: factories.member(benchmark, f"{name}-{slug}", role)
        for name, role in (("vi", "viewer"), ("sam", "submitter"), ("olga", "owner"))
    }
    return SimpleNamespace(benchmark=benchmark, release=release, members=members)


@pytest.fixture
def worlds(tmp_path):
    """Both benchmarks, with two scored runs each: one of them answers all."""
    worlds = []
    for ungraded, slug in ((OTHER, "one-graded"), (ONE, "other-graded")):
        world = benchmark_without(ungraded, slug)
        rankings = plain_run() | {OTHER: ["x", "y"]}
        partial = {qid: docids for qid, docids in rankings.items() if qid != ONE}
        for name, ranking in (("partial", partial), ("whole", rankings | {ONE: ["x", "y"]})):
            run = factories.run(world.benchmark, lines(ranking), name=name)
            score_run(run=run, target=Target.of(world.release), folder=tmp_path / f"{slug}-{name}")
        worlds.append(world)
    return worlds


def run_of(world: SimpleNamespace, name: str) -> str:
    return str(world.benchmark.runs.get(name=name).pk)


def client_of(world: SimpleNamespace, who: str) -> Client:
    client = Client()
    if who in world.members:
        client.force_login(world.members[who])
    return client


@pytest.mark.parametrize("qid", [ONE, OTHER])
@pytest.mark.parametrize("who", OTHERS)
def test_a_page_of_a_hidden_query_is_there_whether_it_is_graded_or_not(worlds, who, qid):
    pages = [
        client_of(world, who).get(
            reverse("scoring:run-query", args=[world.benchmark.slug, run_of(world, "whole"), qid])
        )
        for world in worlds
    ]

    assert [page.status_code for page in pages] == [200, 200]
    assert all("This query is in a hidden split" in page.content.decode() for page in pages)


def test_a_slice_is_withheld_whether_its_hidden_queries_are_graded_or_not(worlds):
    for world in worlds:
        board = reverse("scoring:leaderboard", args=[world.benchmark.slug])
        page = Client().get(f"{board}?slice=one")

        assert "The means of “one” are not shown" in page.content.decode()
