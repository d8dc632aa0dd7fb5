"""Which queries of a hidden split have grades: told by nothing that anybody but a keeper gets.

A benchmark is there twice: of two hidden queries the one has grades in it, and the other in the
second. The run answers one of them, with documents that nobody has judged: all means are the same.
"""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from benchmarks_app.models import Release
from benchmarks_app.releases.selectors import hidden_queries
from benchmarks_app.slices.services.changes import register_slice
from benchwright.releases.options import ReleaseOptions
from scoring.models import Phase, Submission
from scoring.scores.services.scoring import Target, score_run
from scoring.scores.services.slice_scores import slice_parts
from scoring.submissions.services import submitting
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
    factories.query_slice(benchmark, "one", queries[ONE])
    whole = factories.query_slice(benchmark, "whole", *queries.values())
    register_slice(of=whole, actor=factories.user("keeper"))
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


def answers(world: SimpleNamespace, who: str, name: str) -> object:
    """What is told of which queries were answered, and how many numbers rest on."""
    client = client_of(world, who)
    api = f"/api/v1/benchmarks/{world.benchmark.slug}/"
    one, other = (run_of(world, run) for run in ("partial", "whole"))
    if name == "board":
        board = client.get(f"{api}releases/1.0.0/leaderboard/?sort=missing").json()
        return [(row["run"], row["n_missing"], row["n_extra"]) for row in board["rows"]]
    if name == "run":
        scores = client.get(f"{api}runs/{one}/scores/").json()
        sizes = [(mean["measure"], mean["slice"], mean["n"]) for mean in scores["scores"]]
        return scores["n_missing"], scores["n_extra"], sizes, scores["notes"]
    if name == "comparison":
        comparison = client.get(f"{api}comparisons/?runs={one},{other}").json()
        return list(comparison["answered"].values()), comparison["comparability"]
    if name == "ann":
        answer = client.get(f"{api}ann/?exact={other}&approximate={one}").json()
        return answer["rows"]
    manifest = client.get(f"{api}releases/1.0.0/").json()["manifest"]
    return [warning for warning in manifest["warnings"] if "slice" in warning]


PLACES = ("board", "run", "comparison", "ann", "release")


@pytest.mark.parametrize("who", OTHERS)
@pytest.mark.parametrize("place", PLACES)
def test_nobody_but_keepers_is_told(worlds, who, place):
    one, other = (answers(world, who, place) for world in worlds)

    assert one
    assert one == other


@pytest.mark.parametrize("place", ["board", "run", "comparison"])
def test_keepers_are(worlds, place):
    one, other = (answers(world, "olga", place) for world in worlds)

    assert one != other


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


def test_no_slice_of_hidden_queries_plays_a_part_in_patterns_of_public_ones(worlds):
    head = {"kind": "frequency", "rule": {"kind": "frequency", "band": "head"}}
    for world in worlds:
        world.benchmark.slices.update(**head)
        hidden = hidden_queries(world.release)

        assert slice_parts(world.release, hidden=hidden) == {"head": "whole"}


def test_a_slice_is_withheld_whether_its_hidden_queries_are_graded_or_not(worlds):
    for world in worlds:
        board = reverse("scoring:leaderboard", args=[world.benchmark.slug])
        page = Client().get(f"{board}?slice=one")

        assert "The means of “one” are not shown" in page.content.decode()


@pytest.mark.parametrize("lacking", [ONE, OTHER])
def test_a_board_does_not_tell_how_many_queries_lack_a_value(tmp_path, lacking):
    benchmark = hiding_benchmark()
    factories.query(benchmark, OTHER, family=benchmark.families.create(split="test"))
    release = factories.release(benchmark.qrel_sets.get())
    rankings = plain_run() | {OTHER: ["x"]}
    for name, left_out in (("whole", ""), ("partial", lacking)):
        ranking = {qid: docids for qid, docids in rankings.items() if qid != left_out}
        run = factories.run(benchmark, lines(ranking), name=name)
        score_run(run=run, target=Target.of(release), folder=tmp_path / name)

    board = "/api/v1/benchmarks/hiding/releases/1.0.0/leaderboard/?measure=Judged@10&split="
    answers = [Client().get(f"{board}{split}").json() for split in ("test", "all")]

    assert [answer["notes"] for answer in answers] == [[], []]


def test_of_how_many_queries_a_value_is_undefined_is_not_told(tmp_path):
    """Of `Accuracy` these are the queries in which nothing relevant was found."""
    qrels = hiding_benchmark().qrel_sets.get()
    options = ReleaseOptions(measures=["Accuracy@10", "Judged@10"])
    release = factories.release(qrels, options=options)
    rankings = plain_run(h00=["x"])
    del rankings["h01"]
    run = factories.run(qrels.benchmark, lines(rankings), name="probe")
    score_run(run=run, target=Target.of(release), folder=tmp_path)

    answer = Client().get(f"/api/v1/benchmarks/hiding/runs/{run.pk}/scores/").json()

    assert {mean["measure"]: mean["n"] for mean in answer["scores"]} == {
        "Accuracy@10": 33,
        "Judged@10": 33,
    }


# --- refusals --------------------------------------------------------------------------------


@pytest.fixture
def few_of_many(do_jobs):
    """A function that sends a run of the 120 hidden queries that nobody graded, of 150."""
    benchmark = hiding_benchmark()
    many = [f"u{number:03}" for number in range(120)]
    for qid in many:
        factories.query(benchmark, qid, family=benchmark.families.create(split="test"))
    release: Release = factories.release(benchmark.qrel_sets.get())
    sam = factories.member(benchmark, "sam", "submitter")
    phase = Phase.objects.get(release=release, split="test")
    content = lines({qid: [f"{qid}-x"] for qid in many}).encode()
    upload = factories.waiting_upload(benchmark, "many.run", content, sam)
    submission = submitting.accept_submission(phase=phase, user=sam, upload=upload, name="many")
    do_jobs()
    return Submission.objects.get(pk=submission.pk)


def test_a_run_of_ungraded_hidden_queries_is_scored_as_any_other(few_of_many):
    assert few_of_many.problems == []
    assert few_of_many.state == Submission.State.SCORED
    assert few_of_many.run.score_sets.get().scores.get(measure="nDCG@10", slice_name="").mean == 0
