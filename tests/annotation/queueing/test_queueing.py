"""A queue that is put in order while people judge: places change, and nothing else."""

import math

import pytest
from django.urls import reverse

from annotation.models import CampaignPair, Pool, Slot
from annotation.pools.services.pooling import set_pool_state
from annotation.queueing.errors import QueuePoolError, QueueSourceError
from annotation.queueing.services import queue_arguments
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent
from benchwright.pools.errors import PoolRecipeError
from tests import factories
from tests.annotation import making, making_machines

pytestmark = pytest.mark.django_db
DOCUMENTS = {"q1": ["a", "b", "c", "d"], "q2": ["a", "b", "e", "f"]}


@pytest.fixture
def pool(benchmark):
    for qid in DOCUMENTS:
        factories.query(benchmark, qid)
    small_pool = making.pool(benchmark, DOCUMENTS, overlap=2)
    small_pool.statistics = {"runs": [], "overlaps": [], "n_queries": 2}
    small_pool.save(update_fields=["statistics"])
    return small_pool


@pytest.fixture
def run(benchmark, pool):
    """A function that makes a run of the pool: a ranking of each query."""

    def make(name: str, **rankings: str):
        lines = "\n".join(
            f"{qid} Q0 {docid} {rank} {100 - rank} {name}"
            for qid, docids in rankings.items()
            for rank, docid in enumerate(docids, start=1)
        )
        small_run = factories.run(benchmark, lines, name=name)
        pool.pool_runs.create(run=small_run, depth=10)
        return small_run

    return make


@pytest.fixture
def graded(benchmark, pool):
    """A function that has a machine grade documents of the pool: {query and document: grade}."""

    def grade(name: str, grades: dict[str, int]):
        judge = making_machines.judge(benchmark, name)
        campaign = making_machines.campaign(pool, judge=judge, name=f"campaign of {name}")
        for number, (of, value) in enumerate(grades.items(), start=1):
            query = benchmark.queries.get(qid=of[:2])
            label = making_machines.label(campaign, query, of[2:], value)
            state = CampaignPair.State.GRADED
            making_machines.pair(campaign, query, of[2:], number, state=state, judgment=label)
        return campaign

    return grade


def order(pool: Pool, owner, **options) -> dict:
    arguments = queue_arguments(pool=pool, **options)
    job = jobs.run_here(benchmark=pool.benchmark, user=owner, **arguments)
    return factories.done(job).result


def queue(pool: Pool) -> list[str]:
    """Query, document and number of each label, as people get them."""
    slots = pool.slots.filter(kind="label").order_by("queue_position")
    return [
        f"{qid}{docid}{number}"
        for qid, docid, number in slots.values_list(
            "query__qid", "entry__document__docid", "number"
        )
    ]


def by_query(of: list[str], number: int) -> dict[str, str]:
    return {
        qid: "".join(row[2] for row in of if row.startswith(qid) and row.endswith(str(number)))
        for qid in DOCUMENTS
    }


def test_what_two_runs_rank_most_differently_comes_first(pool, run, owner):
    run("one", q1="dcab", q2="abef")
    run("two", q1="acbd", q2="abfe")
    before = queue(pool)

    result = order(pool, owner, by="verdict", runs=list(pool.runs.order_by("name")), measure="dcg")

    # Of q1: d at 1 and 4, a at 3 and 1, b at 4 and 3, c at 2 in both.
    discount = {rank: 1 / math.log2(rank + 1) for rank in range(1, 5)}
    moves = {
        "d": discount[1] - discount[4],
        "a": discount[1] - discount[3],
        "b": discount[3] - discount[4],
        "c": 0.0,
    }
    expected = "".join(sorted(moves, key=lambda docid: -moves[docid]))
    assert expected == "dabc"
    for number in (1, 2):
        # Equal ones stay as they were: of q2, e and f change places, a and b do not.
        assert by_query(queue(pool), number) == {"q1": "dabc", "q2": "efab"}
    assert [row[:2] for row in queue(pool)] == [row[:2] for row in before]
    assert sorted(queue(pool)) == sorted(before)
    assert result["n_documents"] == 8
    again = order(pool, owner, by="verdict", runs=list(pool.runs.order_by("name")), measure="dcg")
    assert again["n_moved"] == 0


def test_cutoff_and_measure_decide_what_moves_a_difference(pool, run, owner):
    run("one", q1="dcab", q2="abef")
    run("two", q1="acbd", q2="feba")

    order(pool, owner, by="verdict", runs=list(pool.runs.order_by("name")), cutoff=2)

    # P@2: of q1 d and a are in one of the two, of q2 all four.
    assert by_query(queue(pool), 1) == {"q1": "adbc", "q2": "abef"}


def test_what_machines_disagree_on_comes_first(pool, graded, owner):
    graded("one", {"q1a": 1, "q1b": 0, "q1c": 2, "q1d": 0, "q2a": 0, "q2f": 0})
    graded("two", {"q1a": 1, "q1b": 2, "q1c": 1, "q1d": 1, "q2f": 2, "q2e": 3})

    order(pool, owner, by="disagreement", campaigns=list(pool.campaigns.all()))

    # q1: b 0 and 2, then d 0 and 1 (across relevance, which is from 1), c 2 and 1, a the same.
    assert pool.benchmark.grades.filter(is_relevant=True).order_by("value")[0].value == 1
    assert by_query(queue(pool), 1) == {"q1": "bdca", "q2": "fabe"}
    result = Pool.objects.get(pk=pool.pk).parameters["queue"]
    assert result["by"] == "disagreement"
    assert set(result) == {"by", "at"}
    event = AuditEvent.objects.get(action="order-queue")
    assert (event.actor, event.target) == (owner, pool.name)


def test_what_people_hold_or_have_judged_keeps_its_place(pool, run, owner, ada):
    runs = [run("one", q1="dcab", q2="abef"), run("two", q1="acbd", q2="abef")]
    first = pool.slots.get(query__qid="q1", entry__document__docid="a", number=1)
    making.judge(first, ada, 1)
    held = pool.slots.get(query__qid="q1", entry__document__docid="c", number=1)
    making.begun(pool, ada)
    places = dict(pool.slots.exclude(state=Slot.State.FREE).values_list("pk", "queue_position"))

    order(pool, owner, by="verdict", runs=runs, measure="dcg")

    assert first.pk in places
    assert dict(pool.slots.filter(pk__in=places).values_list("pk", "queue_position")) == places
    assert held.pk in dict(pool.slots.values_list("pk", "queue_position"))
    assert by_query(queue(pool), 2) == {"q1": "dabc", "q2": "abef"}


@pytest.mark.parametrize(
    ("change", "options", "error", "words"),
    [
        ({"state": "closed"}, {"by": "verdict"}, QueuePoolError, "it is closed"),
        ({"order": "mtf"}, {"by": "verdict"}, QueuePoolError, "what people find relevant"),
        ({}, {"by": "verdict"}, QueueSourceError, "two different ones"),
        ({}, {"by": "disagreement"}, QueueSourceError, "two or more models"),
        ({}, {"by": "doubt"}, PoolRecipeError, "expected 30"),
    ],
)
def test_what_cannot_be_put_in_order_says_why(pool, owner, change, options, error, words):
    for name, value in change.items():
        setattr(pool, name, value)
    pool.save()

    with pytest.raises(error, match=words):
        order(pool, owner, **options)


def test_pool_that_is_closed_meanwhile_keeps_its_queue(pool, run, owner):
    runs = [run("one", q1="dcab"), run("two", q1="acbd")]
    before = queue(pool)
    arguments = queue_arguments(pool=pool, by="verdict", runs=runs)
    set_pool_state(pool=pool, state=Pool.State.CLOSED, actor=owner)

    job = jobs.run_here(benchmark=pool.benchmark, user=owner, **arguments)

    assert job.state == "failed"
    assert "it is closed" in job.error
    assert queue(pool) == before


def test_by_page_and_by_api(pool, run, graded, owner, ada, client, do_jobs):
    run("one", q1="dcab", q2="abef")
    run("two", q1="acbd", q2="abef")
    graded("one", {"q1b": 0})
    graded("two", {"q1b": 2})
    address = reverse("annotation:pool-queue", args=[pool.benchmark.slug, pool.pk])
    client.force_login(owner)
    chosen = {run.name: run.pk for run in pool.runs.all()}

    refused = client.post(address, {"by": "verdict", "first": chosen["one"]})
    client.post(
        address,
        {"by": "verdict", "first": chosen["one"], "second": chosen["two"], "measure": "dcg"},
    )
    do_jobs()
    by_page = by_query(queue(pool), 1)
    text = client.get(address).content.decode()
    api = f"/api/v1/benchmarks/{pool.benchmark.slug}/pools/{pool.pk}/queue/"
    names = [campaign.name for campaign in pool.campaigns.all()]
    unknown = client.post(api, {"by": "verdict", "runs": ["none"]}, "application/json")
    answer = client.post(api, {"by": "disagreement", "campaigns": names}, "application/json")
    do_jobs()

    assert refused.status_code == 422
    assert b"A difference is of two runs. Choose two different ones" in refused.content
    assert by_page == {"q1": "dabc", "q2": "abef"}
    assert "what can move the difference of two runs most" in text
    assert (unknown.status_code, unknown.json()["errors"]) == (
        400,
        {"runs": ["There is no 'none' here."]},
    )
    assert answer.status_code == 202
    assert by_query(queue(pool), 1)["q1"][0] == "b"
    assert client.get(api).json()["by"] == "disagreement"
    client.force_login(ada)
    assert client.get(api).status_code == 403
