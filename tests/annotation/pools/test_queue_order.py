"""In which order people get a query's documents: it tells nothing of what runs ranked high."""

from importlib import import_module
from itertools import combinations, count, pairwise
from math import sqrt

import pytest
from django.db import connection

from annotation.judging.services.claiming import DOCUMENTS_AHEAD
from annotation.models import Pool, PoolEntry, Slot
from annotation.pools.services.pooling import pool_arguments
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Corpus
from benchwright.corpora.store import StoredDocument
from benchwright.pools import Recipe, shown_places
from tests import factories
from tests.annotation.making import begun, claimed, judge, pool

pytestmark = pytest.mark.django_db
SHUFFLE = import_module("annotation.migrations.0007_shuffle_free_slots").SHUFFLE
N_QUERIES, DEPTH = 120, 6


@pytest.fixture
def build(benchmark, owner, monkeypatch):
    """A function that builds a pool of three runs, which agree on a third of their documents."""
    collection = "annotation.pools.services.pooling"
    monkeypatch.setattr(
        f"{collection}.benchmark_documents",
        lambda _, docids: {docid: StoredDocument(docid, docid, "text", "{}") for docid in docids},
    )
    monkeypatch.setattr(f"{collection}.unknown_documents", lambda _, docids: set())
    for number in range(N_QUERIES):
        factories.query(benchmark, f"q{number}")
    runs = [factories.run(benchmark, _lines(name), name=name) for name in ("a", "b", "c")]

    Corpus.objects.filter(pk=benchmark.corpus_id).update(kind=Corpus.Kind.TEXTS)
    names = (f"pool {number}" for number in count())

    def building(**recipe) -> Pool:
        arguments = pool_arguments(
            benchmark=benchmark,
            name=next(names),
            runs=runs,
            overlap=2,
            seed=11,
            recipe=Recipe(depth=DEPTH, **recipe),
        )
        job = factories.done(jobs.run_here(benchmark=benchmark, user=owner, **arguments))
        return Pool.objects.get(pk=job.result["pool"])

    return building


def _lines(run: str) -> str:
    """Documents of its own, and at every third rank one that the other runs have there, too."""
    return "\n".join(
        f"q{query} Q0 {'all' if rank % 3 == 0 else run}-{query}-{rank} {rank} {99 - rank} {run}"
        for query in range(N_QUERIES)
        for rank in range(1, DEPTH + 1)
    )


def mean_tau(by_query: dict[int, list[int]]) -> tuple[float, float]:
    """Kendall's tau of place and rank over all pairs that ranks tell apart; its standard error."""
    taus = []
    for ranks in by_query.values():
        signs = [(after > before) - (after < before) for before, after in combinations(ranks, 2)]
        results = [sign for sign in signs if sign]
        taus.append(sum(results) / len(results))
    mean = sum(taus) / len(taus)
    spread = sum((tau - mean) ** 2 for tau in taus) / (len(taus) - 1)
    return mean, sqrt(spread / len(taus))


def by_query(rows) -> dict[int, list[int]]:
    results: dict[int, list[int]] = {}
    for query, rank in rows:
        results.setdefault(query, []).append(rank)
    return results


FIXED = [
    {},
    {"strategy": "layered", "budget": 12},
    {"order": "rrf"},
]


@pytest.mark.parametrize("recipe", FIXED, ids=["depth-k", "layered", "rrf"])
def test_place_in_the_queue_tells_no_rank(build, recipe):
    built_pool = build(**recipe)

    for number in (1, 2):
        slots = built_pool.slots.filter(number=number).order_by("queue_position")
        tau, error = mean_tau(by_query(slots.values_list("query", "entry__best_rank")))
        assert error < 0.05
        assert abs(tau) < 3 * error


def test_entries_keep_the_order_of_the_recipe(build):
    """The pool's own order is that of its file; the measure below would see it."""
    rows = PoolEntry.objects.filter(pool=build()).order_by("priority")

    tau, error = mean_tau(by_query(rows.values_list("query", "best_rank")))

    assert (tau, error) == (1.0, 0.0)


def test_what_a_person_is_shown_tells_no_rank(build, ada):
    built_pool = build()
    begun(built_pool, ada)
    results = []
    for _ in range(30):
        slots = claimed(built_pool, ada)
        results += [(slot.query_id, slot.entry.best_rank) for slot in slots]
        built_pool.slots.filter(pk__in=[slot.pk for slot in slots]).update(state=Slot.State.DONE)

    tau, error = mean_tau(by_query(results))

    assert len(results) == 30 * DOCUMENTS_AHEAD
    assert abs(tau) < 3 * error


def test_documents_of_a_query_stay_together(build):
    queries = list(
        Slot.objects.filter(pool=build(), number=1)
        .order_by("queue_position")
        .values_list("query", flat=True)
    )

    changes = sum(before != after for before, after in pairwise(queries))
    assert changes == N_QUERIES - 1


def test_queue_is_the_same_for_the_same_seed():
    pairs = [(f"q{query}", f"d{n}") for query in range(3) for n in range(20)]

    assert shown_places(pairs, seed=1) == shown_places(pairs, seed=1) != shown_places(pairs, seed=2)


def test_upgrade_shuffles_what_is_free_and_leaves_what_is_held_or_judged(benchmark, ada):
    """Pools of earlier versions stand in the order of the ranks."""
    documents = {f"q{query}": [f"{query}-{n}" for n in range(12)] for query in range(30)}
    small_pool = pool(benchmark, documents, overlap=2)
    begun(small_pool, ada)
    in_hand = claimed(small_pool, ada)
    judge(in_hand[0], ada, 1)
    before = dict(small_pool.slots.values_list("pk", "queue_position"))

    with connection.cursor() as cursor:
        cursor.execute(SHUFFLE)

    after = dict(small_pool.slots.values_list("pk", "queue_position"))
    assert {slot.pk: before[slot.pk] for slot in in_hand} == {
        slot.pk: after[slot.pk] for slot in in_hand
    }
    assert sorted(after.values()) == sorted(before.values())
    assert _of_queries(small_pool, after) == _of_queries(small_pool, before)
    moved = [pk for pk in before if before[pk] != after[pk]]
    assert len(moved) > 0.8 * len(before)


def _of_queries(of: Pool, places: dict[int, int]) -> dict[tuple[int, int], list[int]]:
    """The places that the slots of each query and number have together."""
    results: dict[tuple[int, int], list[int]] = {}
    for pk, query, number in of.slots.order_by("pk").values_list("pk", "query", "number"):
        results.setdefault((query, number), []).append(places[pk])
    return {key: sorted(of_key) for key, of_key in results.items()}
