import uuid
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from annotation.common.services import statements
from annotation.judging.selectors.work import Work, work_state
from annotation.judging.services.claiming import LEASE, query_in_hand, release_slots
from annotation.judging.services.judging import put_off, undo_last
from annotation.models import Pool, Slot
from tests import factories
from tests.annotation.making import claimed, docids, judge, pool

pytestmark = pytest.mark.django_db
TWO_QUERIES = {"q1": ["d1", "d2", "d3"], "q2": ["d4", "d5"]}


@pytest.fixture
def ann(benchmark):
    """Ann annotates too."""
    return factories.member(benchmark, "ann", "annotator")


def expire(slots: list[Slot]) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Slot.objects.filter(pk__in=[slot.pk for slot in slots]).update(lease_expires_at=past)


def test_one_query_comes_after_the_other(benchmark, ada):
    small_pool = pool(benchmark, TWO_QUERIES)

    taken = claimed(small_pool, ada, n=4)

    assert docids(taken[:3]) == {"d1", "d2", "d3"}
    assert docids(taken[3:]) < {"d4", "d5"}


def test_a_lease_lasts_half_an_hour(benchmark, ada):
    small_pool = pool(benchmark, TWO_QUERIES)

    (slot,) = claimed(small_pool, ada, n=1)

    assert timedelta(minutes=29) < slot.lease_expires_at - statements.clock() <= LEASE


def test_no_more_than_asked_for_are_held(benchmark, ada):
    small_pool = pool(benchmark, TWO_QUERIES)

    first = claimed(small_pool, ada, n=2)
    again = claimed(small_pool, ada, n=2)

    assert [slot.pk for slot in again] == [slot.pk for slot in first]
    assert Slot.objects.filter(state="claimed").count() == 2


def test_the_first_in_the_queue_is_claimed_first(benchmark, ada):
    small_pool = pool(benchmark, TWO_QUERIES)

    assert docids(claimed(small_pool, ada, n=1)) == {"d1"}


def test_the_query_in_hand_is_finished_first(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1"], "q2": ["d2", "d3"]})
    Slot.objects.filter(entry__document__docid="d1").update(
        state="claimed", annotator=factories.user("x"), lease_expires_at=timezone.now() + LEASE
    )
    (slot,) = claimed(small_pool, ada, n=1)
    judge(slot, ada, 1)
    Slot.objects.filter(entry__document__docid="d1").update(state="free", annotator=None)

    assert docids(claimed(small_pool, ada, n=1)) == {"d3"}


def test_query_in_hand_is_of_what_is_held_first_where_none_of_it_was_judged_last(benchmark, ada):
    small_pool = pool(benchmark, TWO_QUERIES)
    claimed(small_pool, ada, n=5)
    held = statements.held(small_pool.pk, ada.pk, renew_below=statements.clock())
    one, other = {card.query: card for card in held}.values()

    assert query_in_hand(small_pool, ada.pk, [one, other]) == one.query
    assert query_in_hand(small_pool, ada.pk, [other, one]) == other.query


def test_query_in_hand_is_the_one_that_was_judged_last_where_some_of_it_is_held(benchmark, ada):
    small_pool = pool(benchmark, TWO_QUERIES)
    slots = claimed(small_pool, ada, n=5)
    last = next(slot for slot in slots if slot.query.qid == "q2")
    judge(last, ada, 1)
    held = statements.held(small_pool.pk, ada.pk, renew_below=statements.clock())

    assert {card.query for card in held} > {last.query_id}
    assert query_in_hand(small_pool, ada.pk, held) == last.query_id
    assert query_in_hand(small_pool, ada.pk, held[::-1]) == last.query_id


def test_who_holds_something_gets_nothing_of_what_another_is_in_the_middle_of(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1"], "q2": ["d2", "d3"]})
    assert docids(claimed(small_pool, ada, n=1)) == {"d1"}
    assert docids(claimed(small_pool, ann, n=1)) == {"d2"}

    assert docids(claimed(small_pool, ada, n=2)) == {"d1"}


def test_a_query_somebody_else_is_in_the_middle_of_comes_last(benchmark, ada, ann):
    small_pool = pool(benchmark, TWO_QUERIES)
    claimed(small_pool, ada, n=1)

    assert docids(claimed(small_pool, ann, n=5)) == {"d4", "d5"}


def test_the_rest_of_anothers_query_is_given_when_nothing_else_is_left(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]})
    claimed(small_pool, ada, n=1)

    assert docids(claimed(small_pool, ann, n=5)) == {"d2"}


def test_nobody_gets_what_another_holds(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    claimed(small_pool, ada)

    assert claimed(small_pool, ann) == []


def test_an_expired_lease_is_taken_over(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    expire(claimed(small_pool, ada))

    (slot,) = claimed(small_pool, ann)

    assert slot.annotator == ann


def test_ones_own_expired_lease_is_claimed_again(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    first = claimed(small_pool, ada)
    expire(first)

    again = claimed(small_pool, ada)

    assert [slot.pk for slot in again] == [slot.pk for slot in first]
    assert again[0].lease_expires_at > timezone.now()


@pytest.mark.parametrize(("minutes", "is_renewed"), [(3, True), (24, True), (26, False)])
def test_lease_is_renewed_whole_once_a_sixth_of_it_is_over(benchmark, ada, minutes, is_renewed):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]})
    slot, other = claimed(small_pool, ada, n=2)
    until = statements.clock() + timedelta(minutes=minutes)
    Slot.objects.filter(pk=slot.pk).update(lease_expires_at=until)

    claimed(small_pool, ada, n=2)

    (slot_now, other_now) = (Slot.objects.get(pk=row.pk) for row in (slot, other))
    left = slot_now.lease_expires_at - statements.clock()
    assert (slot_now.lease_expires_at == until) is not is_renewed
    assert not is_renewed or timedelta(minutes=29) < left <= LEASE
    assert other_now.lease_expires_at == other.lease_expires_at


def test_renewing_leaves_a_document_with_whom_it_went_to(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claimed(small_pool, ada)
    soon = statements.clock() + timedelta(minutes=3)
    Slot.objects.filter(pk=slot.pk).update(annotator=ann, lease_expires_at=soon)

    statements.renew([slot.pk], ada.pk, until=soon + LEASE)

    assert Slot.objects.get().lease_expires_at == soon


@pytest.mark.parametrize("minutes", [-120, 120])
def test_leases_go_by_the_database_and_not_by_the_worker(benchmark, ada, ann, monkeypatch, minutes):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]})
    off = timezone.now() + timedelta(minutes=minutes)
    monkeypatch.setattr("django.utils.timezone.now", lambda: off)

    (slot,) = claimed(small_pool, ada, n=1)
    put_off(slot=slot, actor=ada)

    assert abs(Slot.objects.get(pk=slot.pk).lease_expires_at - statements.clock() - LEASE) < (
        timedelta(minutes=1)
    )
    assert docids(claimed(small_pool, ann)) == {"d2"}
    assert work_state(small_pool, ann).work is Work.READY


@pytest.mark.parametrize("overlap", [1, 2, 3])
@pytest.mark.parametrize("is_adjacent", [True, False])
def test_as_many_documents_as_asked_for_however_many_labels_each_wants(
    benchmark, ada, overlap, is_adjacent
):
    small_pool = pool(benchmark, {"q1": [f"d{n}" for n in range(8)]}, overlap=overlap)
    if is_adjacent:
        Slot.objects.update(queue_position=F("queue_position") % 8)

    assert docids(claimed(small_pool, ada, n=4)) == {"d0", "d1", "d2", "d3"}
    assert Slot.objects.filter(state="claimed").count() == 4


def test_documents_that_want_one_label_more_take_nothing_from_a_page(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1", "d2", "d3"]}, double_share=0.9)
    for slot in list(Slot.objects.all()):
        Slot.objects.create(
            pool=small_pool,
            query=slot.query,
            entry=slot.entry,
            number=2,
            queue_position=slot.queue_position,
        )

    assert docids(claimed(small_pool, ada, n=2)) == {"d1", "d2"}


@pytest.mark.parametrize(
    ("overlap", "values", "n_read"), [(1, {}, 4), (2, {}, 8), (1, {"double_share": 0.5}, 8)]
)
def test_no_more_places_are_locked_than_a_page_may_need(
    benchmark, ada, monkeypatch, overlap, values, n_read
):
    small_pool = pool(benchmark, {"q1": [f"d{n}" for n in range(20)]}, overlap=overlap, **values)
    asked, open_of_query = [], statements.open_of_query
    monkeypatch.setattr(
        statements,
        "open_of_query",
        lambda *keys, n, **named: asked.append(n) or open_of_query(*keys, n=n, **named),
    )

    claimed(small_pool, ada, n=4)

    assert asked == [n_read]


def test_page_is_filled_up_to_what_it_wants_and_no_further(benchmark, ada):
    small_pool = pool(benchmark, {"q1": [f"d{n}" for n in range(12)]})
    for slot in claimed(small_pool, ada, n=6)[:4]:
        judge(slot, ada, 1)

    assert len(claimed(small_pool, ada, n=6)) == 6
    assert Slot.objects.filter(state="claimed").count() == 6


@pytest.mark.parametrize(
    ("want", "n_left", "n_held"),
    [(6, 3, 3), (6, 2, 6), (10, 7, 7), (10, 6, 10), (3, 2, 3), (2, 1, 2), (1, 1, 1)],
)
def test_page_is_refilled_when_few_are_left_or_many_are_missing(
    benchmark, ada, want, n_left, n_held
):
    small_pool = pool(benchmark, {"q1": [f"d{n}" for n in range(20)]})
    for slot in claimed(small_pool, ada, n=want)[n_left:]:
        judge(slot, ada, 1)

    assert len(claimed(small_pool, ada, n=want)) == n_held
    assert Slot.objects.filter(state="claimed").count() == n_held


def test_what_is_given_back_is_as_if_nobody_had_had_it(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, order="maxmean")
    before = list(small_pool.slots.order_by("pk").values())
    first, second = claimed(small_pool, ada)
    put_off(slot=first, actor=ada)
    Slot.objects.filter(pk=second.pk).update(arm="bm25")

    assert release_slots(pool=small_pool, annotator=ada) == 2

    assert list(small_pool.slots.order_by("pk").values()) == before


def test_one_person_gets_one_of_the_two_slots_of_a_document(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)

    taken = claimed(small_pool, ada, n=5)

    assert docids(taken) == {"d1", "d2"}
    assert len(taken) == 2


def test_an_entry_one_has_judged_is_never_given_again(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    judge(claimed(small_pool, ada)[0], ada, 2)

    assert claimed(small_pool, ada) == []
    assert docids(claimed(small_pool, ann)) == {"d1"}


def test_an_entry_one_gave_an_extra_label_is_never_given_again(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    held = claimed(small_pool, ada)
    expire(held)
    judge(claimed(small_pool, ann)[0], ann, 2)
    third = factories.member(benchmark, "third", "annotator")
    claimed(small_pool, third)
    assert judge(held[0], ada, 1).is_surplus
    release_slots(pool=small_pool, annotator=third)

    assert claimed(small_pool, ada) == []

    undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())
    assert docids(claimed(small_pool, ada)) == {"d1"}


def test_what_was_undone_is_ones_own_again(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claimed(small_pool, ada)
    judge(slot, ada, 2)

    undo_last(pool=small_pool, actor=ada, client_id="5f3c1b0e-0000-4000-8000-000000000001")

    assert claimed(small_pool, ada) == [slot]


@pytest.mark.parametrize("state", [Pool.State.PAUSED, Pool.State.CLOSED, Pool.State.BUILDING])
def test_a_pool_that_is_not_open_gives_nothing(benchmark, ada, state):
    small_pool = pool(benchmark, TWO_QUERIES, state=state)

    assert claimed(small_pool, ada) == []


def test_stopping_gives_the_documents_back(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]})
    claimed(small_pool, ada)

    assert release_slots(pool=small_pool, annotator=ada) == 2
    assert docids(claimed(small_pool, ann)) == {"d1", "d2"}


def test_the_order_on_the_screen_is_each_persons_own_and_stays(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": [f"d{n}" for n in range(9)]}, overlap=2)

    def order(person):
        return [slot.entry_id for slot in claimed(small_pool, person, n=9)]

    assert order(ada) == order(ada)
    assert order(ada) != order(ann)
    assert set(order(ada)) == set(order(ann))
