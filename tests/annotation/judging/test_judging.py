import uuid

import pytest
from django.db import DatabaseError, transaction

from annotation.common.services import statements
from annotation.judging.protocol.errors import (
    ClientIdReusedError,
    GradeNotOnScaleError,
    NothingToUndoError,
    PoolClosedError,
    ReasonMissingError,
    SlotOfAnotherError,
    SlotTokenError,
)
from annotation.judging.services.claiming import LEASE, release_slots
from annotation.judging.services.judging import (
    put_off,
    record_cant_judge,
    record_judgment,
    undo_last,
)
from annotation.judging.services.tokens import Shown, read_token, sealed_token
from annotation.models import Judgment, Pool, Slot
from tests import factories
from tests.annotation.judging.test_claiming import expire
from tests.annotation.making import claimed, guideline, judge, pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(benchmark):
    return factories.member(benchmark, "ann", "annotator")


@pytest.fixture
def small_pool(benchmark):
    return pool(benchmark, {"q1": ["d1", "d2"]})


@pytest.fixture
def slot(small_pool, ada):
    return claimed(small_pool, ada)[0]


def test_a_judgment_keeps_what_was_shown(benchmark, slot, ada):
    screen = Shown("abc", guideline(benchmark).pk, shown_position=3, dwell_ms=1200)

    saved = record_judgment(slot=slot, actor=ada, grade=2, client_id=uuid.uuid4(), display=screen)

    saved.refresh_from_db()
    assert (saved.grade, saved.docid) == (2, slot.entry.document.docid)
    assert (saved.content_hash, saved.guideline.version) == ("abc", 1)
    assert (saved.shown_position, saved.dwell_ms) == (3, 1200)
    assert not saved.is_surplus


def test_a_judged_slot_is_done(slot, ada):
    judge(slot, ada, 0)

    slot.refresh_from_db()
    assert (slot.state, slot.annotator) == ("done", ada)


def test_the_same_client_id_again_changes_nothing(slot, ada):
    client_id = uuid.uuid4()
    first = judge(slot, ada, 2, client_id=client_id)

    assert judge(slot, ada, 2, client_id=client_id) == first
    assert Judgment.objects.count() == 1


def test_a_client_id_that_stands_for_another_grade_is_refused(slot, ada):
    client_id = uuid.uuid4()
    judge(slot, ada, 2, client_id=client_id)

    with pytest.raises(ClientIdReusedError, match="saved another judgment already"):
        judge(slot, ada, 3, client_id=client_id)


def test_a_client_id_that_stands_for_another_document_is_refused(small_pool, ada):
    one, two = claimed(small_pool, ada)
    client_id = uuid.uuid4()
    judge(one, ada, 2, client_id=client_id)

    with pytest.raises(ClientIdReusedError):
        judge(two, ada, 2, client_id=client_id)


def test_two_people_may_have_the_same_client_id(small_pool, ada, ann):
    client_id = uuid.uuid4()
    (one,) = claimed(small_pool, ada, n=1)
    (two,) = claimed(small_pool, ann, n=1)

    assert judge(one, ada, 2, client_id=client_id) != judge(two, ann, 2, client_id=client_id)


def test_a_grade_outside_the_scale_is_refused(slot, ada):
    with pytest.raises(GradeNotOnScaleError, match=r"Grade 7 .* \(0, 1, 2, 3\)"):
        judge(slot, ada, 7)


def test_a_judgment_after_the_document_went_to_another_is_an_extra_label(
    small_pool, slot, ada, ann
):
    expire(list(Slot.objects.filter(annotator=ada)))
    claimed(small_pool, ann)

    saved = judge(slot, ada, 3)

    slot.refresh_from_db()
    assert saved.is_surplus
    assert (slot.annotator, slot.state) == (ann, "claimed")


def test_late_judgment_fills_another_free_place_of_its_document(benchmark, ada, ann):
    two = pool(benchmark, {"q5": ["d1"]}, overlap=2)
    (slot,) = claimed(two, ada, n=1)
    expire([slot])
    claimed(two, ann)
    client_id = uuid.uuid4()

    saved = judge(slot, ada, 3, client_id=client_id)
    again = judge(slot, ada, 3, client_id=client_id)
    corrected = judge(slot, ada, 2)

    places = two.slots.order_by("number").values_list("state", "annotator__username")
    assert list(places) == [("claimed", "ann"), ("done", "ada")]
    assert (saved.is_surplus, saved.slot.number, again) == (False, 2, saved)
    assert (corrected.is_surplus, corrected.slot, corrected.supersedes) == (
        False,
        saved.slot,
        saved,
    )
    assert undo_last(pool=two, actor=ada, client_id=uuid.uuid4()).supersedes == corrected


def test_a_judgment_after_the_pool_closed_is_an_extra_label(small_pool, slot, ada):
    Pool.objects.filter(pk=small_pool.pk).update(state="closed")

    assert judge(slot, ada, 3).is_surplus


def test_a_judgment_in_a_paused_pool_counts(small_pool, slot, ada):
    Pool.objects.filter(pk=small_pool.pk).update(state="paused")

    assert not judge(slot, ada, 3).is_surplus


def test_an_expired_lease_that_nobody_took_over_counts(slot, ada):
    expire([slot])

    assert not judge(slot, ada, 3).is_surplus


def test_a_document_given_back_and_judged_all_the_same_counts(small_pool, slot, ada):
    release_slots(pool=small_pool, annotator=ada)

    saved = judge(slot, ada, 3)

    slot.refresh_from_db()
    assert not saved.is_surplus
    assert (slot.state, slot.annotator) == ("done", ada)


def test_a_second_grade_of_ones_own_document_replaces_the_first(slot, ada):
    first = judge(slot, ada, 1)
    second = judge(slot, ada, 3)

    assert second.supersedes == first
    assert list(Judgment.objects.current()) == [second]
    assert not second.is_surplus


def test_cant_judge_needs_a_reason(slot, ada):
    with pytest.raises(ReasonMissingError, match="Say why"):
        record_cant_judge(
            slot=slot, actor=ada, reason="  ", client_id=uuid.uuid4(), display=Shown()
        )


def test_a_grade_replaces_that_it_could_not_be_judged(slot, ada):
    fields = {"slot": slot, "actor": ada, "client_id": uuid.uuid4(), "display": Shown()}
    first = record_cant_judge(reason="Garbled", **fields)

    with pytest.raises(ClientIdReusedError):
        record_cant_judge(reason="Too long", **fields)
    assert judge(slot, ada, 1).supersedes == first


def test_what_is_put_off_is_held_as_long_as_anything_else(slot, ada):
    Slot.objects.update(lease_expires_at=statements.clock())
    began = statements.clock()

    put_off(slot=slot, actor=ada)

    slot.refresh_from_db()
    assert slot.is_later
    assert slot.lease_expires_at > began + LEASE / 2


def test_a_long_reason_is_kept_whole(slot, ada):
    reason = "because " * 60

    saved = record_cant_judge(
        slot=slot, actor=ada, reason=reason, client_id=uuid.uuid4(), display=Shown()
    )

    assert saved.note == reason.strip()
    assert len(saved.reason) == 200
    assert saved.grade is None


def test_undo_takes_back_the_newest_judgment_and_returns_the_document(small_pool, slot, ada):
    saved = judge(slot, ada, 2)

    event = undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())

    slot.refresh_from_db()
    assert (event.kind, event.supersedes) == ("retract", saved)
    assert (slot.state, slot.annotator) == ("claimed", ada)
    assert not Judgment.objects.current().exists()


def test_undo_twice_takes_back_two(small_pool, ada):
    one, two = claimed(small_pool, ada)
    first, second = judge(one, ada, 1), judge(two, ada, 2)

    undone = [undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4()) for _ in range(2)]

    assert [event.supersedes for event in undone] == [second, first]


def test_an_undo_sent_twice_takes_back_one(small_pool, ada):
    one, two = claimed(small_pool, ada)
    judge(one, ada, 1)
    judge(two, ada, 2)
    client_id = uuid.uuid4()

    first = undo_last(pool=small_pool, actor=ada, client_id=client_id)

    assert undo_last(pool=small_pool, actor=ada, client_id=client_id) == first
    assert Judgment.objects.current().count() == 1


def test_nobody_undoes_the_judgment_of_another(small_pool, slot, ada, ann):
    judge(slot, ada, 2)

    with pytest.raises(NothingToUndoError):
        undo_last(pool=small_pool, actor=ann, client_id=uuid.uuid4())


def test_a_closed_pool_keeps_its_judgments(small_pool, slot, ada):
    judge(slot, ada, 2)
    Pool.objects.filter(pk=small_pool.pk).update(state="closed")

    with pytest.raises(PoolClosedError, match="closed"):
        undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())


def test_undoing_an_extra_label_takes_the_document_from_nobody(small_pool, slot, ada, ann):
    expire(list(Slot.objects.filter(annotator=ada)))
    claimed(small_pool, ann)
    judge(slot, ada, 3)

    undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())

    slot.refresh_from_db()
    assert (slot.annotator, slot.state) == (ann, "claimed")


def test_undoing_an_extra_label_leaves_what_another_has_judged(small_pool, slot, ada, ann):
    expire(list(Slot.objects.filter(annotator=ada)))
    claimed(small_pool, ann)
    judge(slot, ann, 0)
    judge(slot, ada, 3)

    undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())

    slot.refresh_from_db()
    assert (slot.annotator, slot.state) == (ann, "done")


@pytest.mark.parametrize("operation", ["update", "delete"])
def test_the_ledger_refuses_every_change(slot, ada, operation):
    saved = judge(slot, ada, 2)
    rows = Judgment.objects.filter(pk=saved.pk)

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        rows.update(grade=3) if operation == "update" else rows.delete()


def test_a_token_leads_back_to_its_slot_and_what_was_shown(slot, ada):
    screen = Shown("abc", 4, 2)

    slot_read, screen_read = read_token(token=sealed_token(slot.pk, ada.pk, screen), annotator=ada)

    assert (slot_read, screen_read) == (slot, screen)


def test_a_token_of_another_is_refused_by_its_code(slot, ada, ann):
    token = sealed_token(slot.pk, ada.pk, Shown())

    with pytest.raises(SlotOfAnotherError, match="another annotator") as caught:
        read_token(token=token, annotator=ann)
    assert caught.value.code == "slot-of-another"


@pytest.mark.parametrize("change", [lambda token: token[:-2] + "xx", lambda _: "nonsense"])
def test_a_token_this_site_did_not_sign_is_refused(slot, ada, change):
    token = sealed_token(slot.pk, ada.pk, Shown())

    with pytest.raises(SlotTokenError, match="Reload"):
        read_token(token=change(token), annotator=ada)
