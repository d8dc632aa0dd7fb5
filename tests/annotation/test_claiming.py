from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Pool, Slot
from annotation.services.claiming import LEASE, claim_slots, release_slots
from annotation.services.judging import undo_last
from tests import factories
from tests.annotation.making import docids, judge, pool

pytestmark = pytest.mark.django_db
TWO_QUERIES = {"q1": ["d1", "d2", "d3"], "q2": ["d4", "d5"]}


@pytest.fixture
def ann(benchmark):
    """Ann annotates too."""
    return factories.member(benchmark, "ann", "annotator")


def expire(slots: list[Slot]) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Slot.objects.filter(pk__in=[slot.pk for slot in slots]).update(lease_expires_at=past)


def test_claimed_slots_are_of_one_query(benchmark, ada):
    made = pool(benchmark, TWO_QUERIES)

    claimed = claim_slots(pool=made, annotator=ada, n=5)

    assert docids(claimed) == {"d1", "d2", "d3"}


def test_a_lease_lasts_half_an_hour(benchmark, ada):
    made = pool(benchmark, TWO_QUERIES)

    (slot,) = claim_slots(pool=made, annotator=ada, n=1)

    assert timedelta(minutes=29) < slot.lease_expires_at - timezone.now() <= LEASE


def test_no_more_than_asked_for_are_held(benchmark, ada):
    made = pool(benchmark, TWO_QUERIES)

    first = claim_slots(pool=made, annotator=ada, n=2)
    again = claim_slots(pool=made, annotator=ada, n=2)

    assert [slot.pk for slot in again] == [slot.pk for slot in first]
    assert Slot.objects.filter(state="claimed").count() == 2


def test_the_first_in_the_queue_is_claimed_first(benchmark, ada):
    made = pool(benchmark, TWO_QUERIES)

    assert docids(claim_slots(pool=made, annotator=ada, n=1)) == {"d1"}


def test_the_query_in_hand_is_finished_first(benchmark, ada):
    made = pool(benchmark, {"q1": ["d1"], "q2": ["d2", "d3"]})
    Slot.objects.filter(entry__document__docid="d1").update(
        state="claimed", annotator=factories.user("x"), lease_expires_at=timezone.now() + LEASE
    )
    (slot,) = claim_slots(pool=made, annotator=ada, n=1)
    judge(slot, ada, 1)
    Slot.objects.filter(entry__document__docid="d1").update(state="free", annotator=None)

    assert docids(claim_slots(pool=made, annotator=ada, n=5)) == {"d3"}


def test_a_query_somebody_else_is_in_the_middle_of_comes_last(benchmark, ada, ann):
    made = pool(benchmark, TWO_QUERIES)
    claim_slots(pool=made, annotator=ada, n=1)

    assert docids(claim_slots(pool=made, annotator=ann, n=5)) == {"d4", "d5"}


def test_the_rest_of_anothers_query_is_given_when_nothing_else_is_left(benchmark, ada, ann):
    made = pool(benchmark, {"q1": ["d1", "d2"]})
    claim_slots(pool=made, annotator=ada, n=1)

    assert docids(claim_slots(pool=made, annotator=ann, n=5)) == {"d2"}


def test_nobody_gets_what_another_holds(benchmark, ada, ann):
    made = pool(benchmark, {"q1": ["d1"]})
    claim_slots(pool=made, annotator=ada)

    assert claim_slots(pool=made, annotator=ann) == []


def test_an_expired_lease_is_taken_over(benchmark, ada, ann):
    made = pool(benchmark, {"q1": ["d1"]})
    expire(claim_slots(pool=made, annotator=ada))

    (slot,) = claim_slots(pool=made, annotator=ann)

    assert slot.annotator == ann


def test_ones_own_expired_lease_is_claimed_again(benchmark, ada):
    made = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    first = claim_slots(pool=made, annotator=ada)
    expire(first)

    again = claim_slots(pool=made, annotator=ada)

    assert [slot.pk for slot in again] == [slot.pk for slot in first]
    assert again[0].lease_expires_at > timezone.now()


def test_an_ageing_lease_is_renewed(benchmark, ada):
    made = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claim_slots(pool=made, annotator=ada)
    soon = timezone.now() + timedelta(minutes=3)
    Slot.objects.filter(pk=slot.pk).update(lease_expires_at=soon)

    claim_slots(pool=made, annotator=ada)

    slot.refresh_from_db()
    assert slot.lease_expires_at > soon + timedelta(minutes=20)


def test_one_person_gets_one_of_the_two_slots_of_a_document(benchmark, ada):
    made = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)

    claimed = claim_slots(pool=made, annotator=ada, n=5)

    assert docids(claimed) == {"d1", "d2"}
    assert len(claimed) == 2


def test_an_entry_one_has_judged_is_never_given_again(benchmark, ada, ann):
    made = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    judge(claim_slots(pool=made, annotator=ada)[0], ada, 2)

    assert claim_slots(pool=made, annotator=ada) == []
    assert docids(claim_slots(pool=made, annotator=ann)) == {"d1"}


def test_an_entry_one_gave_an_extra_label_is_never_given_again(benchmark, ada, ann):
    made = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    held = claim_slots(pool=made, annotator=ada)
    expire(held)
    judge(claim_slots(pool=made, annotator=ann)[0], ann, 2)
    assert judge(held[0], ada, 1).is_surplus

    assert claim_slots(pool=made, annotator=ada) == []


def test_what_was_undone_is_ones_own_again(benchmark, ada):
    made = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claim_slots(pool=made, annotator=ada)
    judge(slot, ada, 2)

    undo_last(pool=made, actor=ada, client_id="5f3c1b0e-0000-4000-8000-000000000001")

    assert claim_slots(pool=made, annotator=ada) == [slot]


@pytest.mark.parametrize("state", [Pool.State.PAUSED, Pool.State.CLOSED, Pool.State.BUILDING])
def test_a_pool_that_is_not_open_gives_nothing(benchmark, ada, state):
    made = pool(benchmark, TWO_QUERIES, state=state)

    assert claim_slots(pool=made, annotator=ada) == []


def test_stopping_gives_the_documents_back(benchmark, ada, ann):
    made = pool(benchmark, {"q1": ["d1", "d2"]})
    claim_slots(pool=made, annotator=ada)

    assert release_slots(pool=made, annotator=ada) == 2
    assert docids(claim_slots(pool=made, annotator=ann)) == {"d1", "d2"}


def test_the_order_on_the_screen_is_each_persons_own_and_stays(benchmark, ada, ann):
    made = pool(benchmark, {"q1": [f"d{n}" for n in range(9)]}, overlap=2)

    def order(person):
        return [slot.entry_id for slot in claim_slots(pool=made, annotator=person, n=9)]

    assert order(ada) == order(ada)
    assert order(ada) != order(ann)
    assert set(order(ada)) == set(order(ann))
