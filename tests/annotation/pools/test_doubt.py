"""Most doubtful first: the order of an estimate from people's labels, and nothing else of it."""

from itertools import groupby, pairwise
from random import Random
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.common.selectors.ledger import last_event, newest_grades
from annotation.judging.services.claiming import DOCUMENTS_AHEAD
from annotation.models import Judgment, Pool, PoolEntry
from annotation.pools.services import pooling
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Run
from benchwright.estimation.learning import learned_estimate
from benchwright.pools import Recipe
from benchwright.pools.errors import PoolRecipeError
from tests import factories
from tests.annotation import making_machines
from tests.annotation.making import begun, claimed, judge, pool

pytestmark = pytest.mark.django_db
N, LABELLED, DEPTH = 36, 32, 8
TOO_FEW = "People have judged documents of 29 families of queries, too few to doubt by; expected 30"


@pytest.fixture
def world(benchmark, monkeypatch):
    """Two runs that all see, one of them the site's; {query: {document: its score}} of that."""
    monkeypatch.setattr(pooling, "unknown_documents", lambda _, docids: set())
    rng = Random(3)
    for number in range(N):
        factories.query(benchmark, f"q{number:02}")
    scores = {
        f"q{number:02}": {f"q{number:02}-d{n}": rng.gauss(5, 2) for n in range(DEPTH)}
        for number in range(N)
    }
    for name, kind in (("bm25", Run.Kind.BASELINE), ("dense", Run.Kind.UPLOADED)):
        lines = "\n".join(
            f"{qid} Q0 {docid} 1 {score if name == 'bm25' else rng.random():.17g} {name}"
            for qid, of in scores.items()
            for docid, score in of.items()
        )
        run = factories.run(benchmark, lines, name=name)
        Run.objects.filter(pk=run.pk).update(kind=kind)
    return scores


@pytest.fixture
def labelled(benchmark, world, ada):
    """A function that has Ada judge five documents of so many queries, by their score."""

    def label(n: int, *, best: int = 2) -> None:
        queries = {qid: [*world[qid]][:5] for qid in list(world)[:n]}
        for slot in pool(benchmark, queries).slots.select_related("entry__document", "query"):
            score = world[slot.query.qid][slot.entry.document.docid]
            judge(slot, ada, best if score > 6 else int(score > 4))

    return label


@pytest.fixture
def build(benchmark, owner):
    """A function that builds a pool of all runs, by default in the order of doubt."""

    def building(name="doubtful", order="doubt", **options) -> Pool:
        arguments = pooling.pool_arguments(
            benchmark=benchmark,
            name=name,
            runs=list(benchmark.runs.all()),
            seed=5,
            recipe=Recipe(depth=DEPTH, order=order, **options),
        )
        job = factories.done(jobs.run_here(benchmark=benchmark, user=owner, **arguments))
        return Pool.objects.get(pk=job.result["pool"])

    return building


def queue(of: Pool) -> list[tuple[str, str]]:
    return list(of.entries.order_by("priority").values_list("query__qid", "document__docid"))


def doubts(world, benchmark) -> dict[tuple[str, str], float]:
    """Of each document, from the library: the estimate by the scores of BM25 alone."""
    estimate = learned_estimate(
        {qid: sorted(of) for qid, of in sorted(world.items())},
        newest_grades(benchmark, last_event(benchmark)),
        scale=(0, 1, 2),
        relevant_from=min(
            benchmark.grades.filter(is_relevant=True).values_list("value", flat=True), default=1
        ),
        scores={"bm25": world},
    )
    return {
        (qid, docid): round(estimate.doubt(qid, docid), 6)
        for qid, of in world.items()
        for docid in of
    }


def test_what_is_doubted_most_comes_first_in_its_query(world, labelled, build, benchmark):
    labelled(LABELLED)

    built_pool = build()

    doubted = doubts(world, benchmark)
    by_query = {qid: [*of] for qid, of in groupby(queue(built_pool), key=lambda pair: pair[0])}
    assert len(by_query) == N
    assert built_pool.n_entries == N * DEPTH
    for of in by_query.values():
        results = [doubted[pair] for pair in of]
        assert results == sorted(results, reverse=True)
        assert results[0] > results[-1]


def test_people_get_them_in_that_order(world, labelled, build, ada):
    labelled(LABELLED)
    built_pool = build()
    begun(built_pool, ada)

    slots = built_pool.slots.filter(kind="label").order_by("queue_position")
    in_hand = {slot.entry_id for slot in claimed(built_pool, ada)}

    assert list(slots.values_list("entry__priority", flat=True)) == [*range(built_pool.n_entries)]
    first = built_pool.entries.order_by("priority").values_list("pk", flat=True)[:DOCUMENTS_AHEAD]
    assert in_hand == set(first)


def test_same_inputs_are_the_same_pool_and_later_labels_another_queue(labelled, build):
    labelled(LABELLED)
    first, again = build("one"), build("again")
    by_rank = build("by rank", order="layered")
    labelled(2, best=0)

    later = build("later")

    assert (queue(first), first.digest) == (queue(again), again.digest)
    assert {*queue(first)} == {*queue(by_rank)} == {*queue(later)}
    assert later.digest == first.digest != by_rank.digest
    assert queue(later) != queue(first)


def test_no_estimate_is_stored(labelled, build):
    labelled(LABELLED)
    doubtful, by_rank = build(), build("by rank", order="layered")

    assert doubtful.parameters == by_rank.parameters
    assert doubtful.statistics == by_rank.statistics
    assert sorted(doubtful.entries.values_list("contributors", "best_rank"), key=str) == sorted(
        by_rank.entries.values_list("contributors", "best_rank"), key=str
    )
    changes = sum(a != b for a, b in pairwise(qid for qid, _ in queue(doubtful)))
    assert changes == N - 1


def test_labels_wanted_go_with_their_documents(labelled, build, benchmark):
    """What is carried over has its label, wherever doubt puts it."""
    labelled(LABELLED)

    built_pool = build(carry=True)

    judged = set(Judgment.objects.values_list("query__qid", "docid"))
    open_pairs = built_pool.slots.values_list("entry__query__qid", "entry__document__docid")
    assert len(judged) == 5 * LABELLED
    assert set(open_pairs) == {*queue(built_pool)} - judged


def test_newest_label_counts_and_neither_a_machines_nor_one_taken_back(benchmark, world, ada, bo):
    small_pool = pool(benchmark, {"q00": ["a", "b"], "q01": ["c"]}, overlap=2)
    a, b = small_pool.entries.filter(query__qid="q00").order_by("priority")
    judge(a.slots.first(), ada, 1)
    judge(a.slots.last(), bo, 2)
    taken_back = judge(b.slots.first(), ada, 2)
    Judgment.objects.create(
        benchmark=benchmark,
        query=b.query,
        docid="b",
        kind=Judgment.Kind.RETRACT,
        actor=ada,
        supersedes=taken_back,
        client_id=uuid4(),
    )
    making_machines.label(making_machines.campaign(small_pool), a.query, "a", 0)

    assert newest_grades(benchmark, last_event(benchmark)) == {"q00": {"a": 2}}
    assert newest_grades(benchmark, taken_back.pk) == {"q00": {"a": 2, "b": 2}}


# --- too few labels ------------------------------------------------------------------------------


def test_too_few_families_are_refused_with_the_reason(labelled, build):
    labelled(29)

    with pytest.raises(PoolRecipeError, match=TOO_FEW):
        build()


def test_page_api_and_command_say_why(labelled, benchmark, owner, signed_in):
    labelled(29)
    client = signed_in(owner)
    asked = {"name": "mine", "depth": 3, "overlap": 1, "seconds": 20, "order": "doubt"}

    page = client.post(
        reverse("annotation:pool-new", args=[benchmark.slug]),
        {**asked, "doubles": 0, "runs": [run.pk for run in benchmark.runs.all()]},
    )
    answer = client.post(
        reverse("api:pool-list", args=[benchmark.slug]),
        {**asked, "runs": ["bm25"]},
        content_type="application/json",
    )

    assert (page.status_code, answer.status_code) == (422, 422)
    assert TOO_FEW in page.content.decode()
    assert answer.json()["code"] == "pool-recipe"
    with pytest.raises(CommandError, match=TOO_FEW):
        call_command("build_pool", benchmark.slug, runs="all", order="doubt", name="by command")
    assert not Pool.objects.filter(name__in=["mine", "by command"]).exists()


def test_it_is_built_from_the_page_and_by_command(labelled, benchmark, owner, signed_in, do_jobs):
    labelled(LABELLED)
    runs = [run.pk for run in benchmark.runs.all()]
    form = {"depth": 3, "overlap": 1, "seconds": 20, "doubles": 0, "order": "doubt", "runs": runs}
    address = reverse("annotation:pool-new", args=[benchmark.slug])
    client = signed_in(owner)

    preview = client.post(address, {**form, "name": "mine", "preview": "1"})
    client.post(address, {**form, "name": "mine", "seed": 5})
    do_jobs()
    call_command(
        "build_pool", benchmark.slug, runs="all", order="doubt", depth=3, seed=5, name="by command"
    )

    by_page, by_command = (Pool.objects.get(name=name) for name in ("mine", "by command"))
    assert preview.context["preview"]["n_entries"] == by_page.n_entries
    assert (by_page.order, queue(by_page)) == ("doubt", queue(by_command))
    assert PoolEntry.objects.filter(pool=by_page).count() == by_page.n_entries
