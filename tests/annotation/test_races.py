"""Many people at once, with connections of their own; only a server database has real races."""

import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from annotation.common.selectors.ledger import ledger_events
from annotation.guidelines.services import add_guideline_line
from annotation.labels.services import publishing
from annotation.models import Judgment, Slot
from benchmarks_app.models import QrelSet
from benchwright.qrels.rules import DEFAULT_RULE, Derivation
from tests import factories
from tests.annotation.making import claimed, judge, pool

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        connection.vendor != "postgresql",
        reason="threads share one connection of the in-memory SQLite; run with DATABASE_URL",
    ),
]
N_PEOPLE = 8


def in_threads(work, people):
    """What `work(person)` returned for each person, all started at once."""
    start = threading.Barrier(len(people))

    def do(person):
        try:
            start.wait()
            return work(person)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as threads:
        return list(threads.map(do, people))


@pytest.fixture
def people(benchmark):
    return [factories.member(benchmark, f"person{n}", "annotator") for n in range(N_PEOPLE)]


@pytest.mark.parametrize("overlap", [1, 2])
def test_people_who_claim_and_judge_at_once_fill_every_slot_once(benchmark, people, overlap):
    queries = {f"q{q}": [f"d{d}" for d in range(10)] for q in range(6)}
    small_pool = pool(benchmark, queries, overlap=overlap)

    def work(person):
        n = 0
        while slots := claimed(small_pool, person, n=3):
            judge(slots[0], person, 1)
            n += 1
        return n

    counts = in_threads(work, people)

    assert sum(counts) == 60 * overlap
    assert not Slot.objects.exclude(state="done").exists()
    assert not Judgment.objects.filter(is_surplus=True).exists()
    per_slot = Counter(Judgment.objects.values_list("slot", flat=True))
    assert set(per_slot.values()) == {1}
    by_person = Counter(Judgment.objects.values_list("actor", "query", "docid"))
    assert set(by_person.values()) == {1}


def test_lines_that_are_added_to_the_guideline_at_once_are_all_kept(benchmark, people):
    def work(person):
        add_guideline_line(benchmark=benchmark, line=f"As {person.username} says.", actor=person)

    in_threads(work, people)

    newest = benchmark.guidelines.order_by("-version").first()
    assert newest.version == N_PEOPLE
    assert sorted(newest.text.splitlines()) == [f"- As person{n} says." for n in range(N_PEOPLE)]


def test_two_tabs_of_one_person_hold_one_set_of_documents(benchmark, people):
    small_pool = pool(benchmark, {"q1": [f"d{d}" for d in range(20)]}, overlap=2)

    in_threads(lambda person: claimed(small_pool, person, n=5), [people[0]] * N_PEOPLE)

    assert Slot.objects.filter(annotator=people[0]).count() == 5


def test_one_judgment_sent_many_times_at_once_is_saved_once(benchmark, people):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claimed(small_pool, people[0])
    client_id = uuid.uuid4()

    saved = in_threads(
        lambda person: judge(slot, person, 2, client_id=client_id).pk, [people[0]] * N_PEOPLE
    )

    assert len(set(saved)) == 1
    assert Judgment.objects.count() == 1


def test_a_set_published_while_people_judge_equals_its_replay(benchmark, people, owner):
    queries = {f"q{q}": [f"d{d}" for d in range(10)] for q in range(4)}
    small_pool = pool(benchmark, queries)
    judge(claimed(small_pool, people[0])[0], people[0], 1)

    def work(person):
        if person == owner:
            arguments = publishing.publishing_arguments(
                benchmark=benchmark, name=str(uuid.uuid4()), rule=DEFAULT_RULE.name
            )
            return publishing.jobs.run_here(benchmark=benchmark, user=owner, **arguments).state
        while slots := claimed(small_pool, person, n=3):
            judge(slots[0], person, 2)
        return "done"

    assert set(in_threads(work, [*people[1:], owner])) == {"done"}
    ours = QrelSet.objects.get()
    replayed = list(Derivation(DEFAULT_RULE).of(ledger_events(benchmark, ours.as_of_event)))
    assert publishing.qrels_digest(replayed) == ours.digest
    assert len(replayed) == ours.n_qrels


def test_publishing_waits_for_a_judgment_that_is_being_written(benchmark, people, owner):
    """Its id is lower than one that is committed before it: without a lock it would be missed."""
    small_pool = pool(benchmark, {"q1": ["d1"], "q2": ["d2"]})
    slots = {person: claimed(small_pool, person, n=1)[0] for person in people[:2]}
    written, others_done = threading.Event(), threading.Event()

    def slow():
        try:
            with transaction.atomic():
                judge(slots[people[0]], people[0], 3)
                written.set()
                others_done.wait(1.5)
        finally:
            connection.close()

    thread = threading.Thread(target=slow)
    thread.start()
    written.wait(5)
    judge(slots[people[1]], people[1], 1)
    arguments = publishing.publishing_arguments(
        benchmark=benchmark, name="ours", rule=DEFAULT_RULE.name
    )
    publishing.jobs.run_here(benchmark=benchmark, user=owner, **arguments)
    others_done.set()
    thread.join()

    ours = QrelSet.objects.get()
    events = list(ledger_events(benchmark, ours.as_of_event))
    assert len(events) == ours.n_qrels == 2
