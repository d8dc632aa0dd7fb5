"""What the sharing of documents promises beyond one claim: families, checks, questions, waivers."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.common.selectors import holding
from annotation.common.services import statements
from annotation.judging.selectors.work import Work, work_state
from annotation.judging.services.claiming import (
    ASIDE,
    release_slots,
    release_slots_of,
    return_slot,
    waive_double_labels,
)
from annotation.judging.services.judging import (
    ask_question,
    record_cant_judge,
    record_judgment,
    take_back,
    turn_of,
)
from annotation.judging.services.tokens import Shown, key_of, opened_token, sealed_token
from annotation.models import (
    Judgment,
    KnownGrade,
    Pool,
    PoolAnnotator,
    PoolEntry,
    Question,
    Slot,
)
from benchmarks_app.models import AuditEvent, Query, Role
from benchmarks_app.people.services.people import change_role, remove_member
from tests import factories
from tests.annotation.making import claimed, docids, document, judge, pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(benchmark):
    """Ann annotates too."""
    return factories.member(benchmark, "ann", "annotator")


def judge_all(made, person, n=100):
    """Judge what is given until `n` labels or nothing is left; the slots in that order."""
    done = []
    while len(done) < n and (slots := claimed(made, person, n=6)):
        for slot in slots[: n - len(done)]:
            judge(slot, person, 1)
            done.append(slot)
    return done


# --- who may ------------------------------------------------------------------------------------


def test_a_pool_with_named_people_is_theirs_alone(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    PoolAnnotator.objects.create(pool=small_pool, annotator=ann)

    assert claimed(small_pool, ada) == []
    assert work_state(small_pool, ada).work is Work.NOT_ASSIGNED
    assert docids(claimed(small_pool, ann)) == {"d1"}


@pytest.fixture
def families(benchmark):
    """Two queries of one family, and one alone."""
    small_pool = pool(benchmark, {"q1": ["d1"], "q2": ["d2"], "q3": ["d3"]})
    family = benchmark.queries.get(qid="q1").family
    Query.objects.filter(qid="q3").update(family=family)
    return small_pool


@pytest.mark.parametrize(
    ("assignment", "second"),
    [("anybody", "d2"), ("family-to-one", "d3"), ("family-rotated", "d2")],
)
def test_the_next_query_of_a_person_follows_the_families(families, ada, assignment, second):
    families.assignment = assignment
    judge(claimed(families, ada, n=1)[0], ada, 1)

    assert docids(claimed(families, ada, n=1)) == {second}


@pytest.mark.parametrize(("assignment", "given"), [("family-to-one", "d2"), ("anybody", "d2")])
def test_a_family_somebody_has_begun_is_left_to_them(families, ada, ann, assignment, given):
    families.assignment = assignment
    judge(claimed(families, ada, n=1)[0], ada, 1)

    assert docids(claimed(families, ann, n=1)) == {given}


@pytest.mark.parametrize("assignment", ["family-to-one", "family-rotated"])
def test_no_assignment_brings_one_person_to_a_standstill(families, ada, assignment):
    families.assignment = assignment

    assert len(judge_all(families, ada)) == 3


def test_a_family_of_anothers_is_given_when_nothing_else_is_left(families, ada, ann):
    families.assignment = "family-to-one"
    judge(claimed(families, ada, n=1)[0], ada, 1)
    release_slots(pool=families, annotator=ada)

    assert len(judge_all(families, ann)) == 2


# --- checks and repeats ---------------------------------------------------------------------------


def add_check(made, qid, docid):
    entry = PoolEntry.objects.create(
        pool=made,
        query=made.benchmark.queries.get(qid=qid),
        document=document(made.benchmark, docid),
        origin="known",
        priority=1000,
    )
    keeper = factories.user("keeper")
    KnownGrade.objects.create(entry=entry, purpose="gold", grade=2, set_by=keeper)
    return entry


def test_checks_come_among_the_documents_up_to_the_share(benchmark, ada):
    small_pool = pool(benchmark, {"q1": [f"d{n}" for n in range(20)]}, gold_share=0.1)
    for n in range(5):
        add_check(small_pool, "q1", f"known{n}")
    began = statements.clock()

    done = judge_all(small_pool, ada)

    kinds = [slot.kind for slot in done]
    assert kinds.count("label") == 20
    assert 1 <= kinds.count("gold") <= 2
    assert kinds[-1] == "label" or kinds.index("gold") < 20
    assert all(slot.lease_expires_at > began for slot in done)
    assert Judgment.objects.wanted().count() == 20


def test_without_a_share_there_is_no_check(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]})
    add_check(small_pool, "q1", "known")

    assert {slot.kind for slot in judge_all(small_pool, ada)} == {"label"}


def test_a_check_is_made_for_each_person_once(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": [f"d{n}" for n in range(8)]}, overlap=2, gold_share=1.0)
    entry = add_check(small_pool, "q1", "known")

    for person in (ada, ann):
        judge_all(small_pool, person)

    gold = Slot.objects.filter(entry=entry, kind="gold")
    assert sorted(gold.values_list("annotator__username", "number")) == [("ada", 1), ("ann", 2)]


def test_a_document_that_still_wants_labels_is_no_check(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, gold_share=1.0)
    entry = small_pool.entries.get(document__docid="d2")
    KnownGrade.objects.create(entry=entry, purpose="gold", grade=2, set_by=ada)

    assert {slot.kind for slot in judge_all(small_pool, ada)} == {"label"}


def test_a_repeat_is_of_another_query_and_many_labels_ago(benchmark, ada):
    queries = {f"q{q}": [f"d{q}-{n}" for n in range(10)] for q in range(5)}
    small_pool = pool(benchmark, queries, repeat_share=0.05)
    began = statements.clock()

    done = judge_all(small_pool, ada)

    repeats = [(place, slot) for place, slot in enumerate(done) if slot.kind == "repeat"]
    assert 1 <= len(repeats) <= 3
    for place, slot in repeats:
        first = next(n for n, other in enumerate(done) if other.entry_id == slot.entry_id)
        assert place - first > 20
        assert slot.lease_expires_at > began
    assert Judgment.objects.wanted().current().count() == 50
    assert Judgment.objects.current().filter(purpose="repeat").count() == len(repeats)


@pytest.mark.parametrize("kind", ["repeat", "gold"])
def test_a_label_and_what_is_asked_beside_it_replace_each_other_never(benchmark, ada, kind):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claimed(small_pool, ada)
    beside = Slot.objects.create(
        pool=small_pool, query=slot.query, entry=slot.entry, kind=kind, queue_position=9,
        annotator=ada, state="claimed", lease_expires_at=statements.clock(),
    )  # fmt: skip

    first, again = judge(slot, ada, 1), judge(beside, ada, 2)
    later, once_more = judge(slot, ada, 3), judge(beside, ada, 0)

    assert (first.supersedes, again.supersedes) == (None, None)
    assert (later.supersedes, once_more.supersedes) == (first, again)


def test_what_is_there_for_one_person_goes_to_nobody_else(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, gold_share=1.0)
    add_check(small_pool, "q1", "known")
    assert "gold" in {slot.kind for slot in claimed(small_pool, ada)}

    assert release_slots(pool=small_pool, annotator=ada) == 2

    assert {slot.kind for slot in judge_all(small_pool, ann)} == {"label", "gold"}
    gold = Slot.objects.filter(kind="gold")
    assert set(gold.values_list("annotator__username", flat=True)) == {"ada", "ann"}


# --- judging anew ---------------------------------------------------------------------------------


def test_a_document_to_be_judged_anew_may_go_to_who_judged_it(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claimed(small_pool, ada)
    first = judge(slot, ada, 1)
    anew = Slot.objects.create(
        pool=small_pool,
        query=slot.query,
        entry=slot.entry,
        kind="rejudge",
        round=2,
        queue_position=9,
    )

    assert claimed(small_pool, ada) == [anew]
    second = judge(anew, ada, 3)

    assert second.supersedes == first
    assert list(Judgment.objects.current().wanted()) == [second]
    assert claimed(small_pool, ada) == []

    anew.pk, anew.round, anew.queue_position = None, 3, 10
    anew.save()
    assert claimed(small_pool, ada) == [anew]


def test_a_document_that_is_to_be_judged_anew_twice_is_held_once(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claimed(small_pool, ada)
    judge(slot, ada, 1)
    for round_ in (2, 3):
        Slot.objects.create(
            pool=small_pool, query=slot.query, entry=slot.entry, kind="rejudge", round=round_,
            queue_position=round_,
        )  # fmt: skip

    assert [row.round for row in claimed(small_pool, ada)] == [2]
    assert Slot.objects.filter(state="claimed").count() == 1


# --- questions ------------------------------------------------------------------------------------


def test_a_document_comes_back_with_its_answer_to_who_asked(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claimed(small_pool, ada)
    question = ask_question(slot=slot, actor=ada, client_id=uuid.uuid4(), text="Is it?")
    assert work_state(small_pool, ann).work is Work.WAITING_ANSWER

    assert return_slot(question=question)

    assert claimed(small_pool, ann) == []
    assert claimed(small_pool, ada) == [slot]
    assert not return_slot(question=question)


def test_what_comes_back_with_an_answer_waits_a_week_and_is_not_put_off(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claimed(small_pool, ada)
    question = ask_question(slot=slot, actor=ada, client_id=uuid.uuid4(), text="Is it?")
    Slot.objects.update(is_later=True)

    return_slot(question=question)

    slot.refresh_from_db()
    week = timedelta(days=7)
    assert week - timedelta(hours=1) < slot.lease_expires_at - statements.clock() <= week
    assert not slot.is_later


def test_a_question_about_a_lost_document_is_kept(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claimed(small_pool, ada)
    Slot.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    claimed(small_pool, ann)

    ask_question(slot=slot, actor=ada, client_id=uuid.uuid4(), text="Is it?")

    assert Question.objects.count() == 1
    slot.refresh_from_db()
    assert (slot.state, slot.annotator) == ("claimed", ann)


# --- who leaves, and what is set aside ------------------------------------------------------------


def remove(member, owner):
    remove_member(membership=member, actor=owner)


def demote(member, owner):
    change_role(membership=member, role=Role.VIEWER, actor=owner)


def close(member, owner):
    member.user.is_active = False
    member.user.save(update_fields=["is_active"])


@pytest.mark.parametrize("leave", [remove, demote, close])
def test_who_leaves_gives_back_what_they_hold_and_have_set_aside(benchmark, owner, ada, ann, leave):
    small_pool = pool(benchmark, {"q1": ["d1", "d2", "d3"]})
    first, *_ = claimed(small_pool, ada)
    ask_question(slot=first, actor=ada, client_id=uuid.uuid4(), text="Is it?")
    elsewhere = pool(factories.benchmark("other"), {"q1": ["d1"]})
    factories.member(elsewhere.benchmark, "ada", "annotator")
    claimed(elsewhere, ada)

    leave(benchmark.memberships.get(user=ada), owner)

    assert docids(claimed(small_pool, ann)) == {"d1", "d2", "d3"}
    assert elsewhere.slots.filter(state="claimed").exists() is (leave is not close)


def test_what_was_set_aside_goes_to_others_when_nobody_answers(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claimed(small_pool, ada)
    ask_question(slot=slot, actor=ada, client_id=uuid.uuid4(), text="Is it?")
    slot.refresh_from_db()
    assert ASIDE - timedelta(hours=1) < slot.lease_expires_at - statements.clock() <= ASIDE
    assert work_state(small_pool, ann).work is Work.WAITING_ANSWER
    assert claimed(small_pool, ann) == []

    Slot.objects.update(lease_expires_at=statements.clock() - timedelta(seconds=1))

    assert work_state(small_pool, ann).work is Work.READY
    assert docids(claimed(small_pool, ann)) == {"d1"}
    assert not return_slot(question=Question.objects.get())


# --- owners ---------------------------------------------------------------------------------------


def test_an_owner_gives_back_what_somebody_holds(benchmark, owner, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1", "d2", "d3"]})
    first, *_ = claimed(small_pool, ada)
    ask_question(slot=first, actor=ada, client_id=uuid.uuid4(), text="Is it?")

    assert release_slots_of(pool=small_pool, annotator=ada, actor=owner) == 3

    assert len(claimed(small_pool, ann)) == 3
    event = AuditEvent.objects.get(action="release-documents")
    assert (event.actor, event.detail["n_documents"]) == (owner, 3)


def test_waived_double_labels_are_no_longer_wanted(benchmark, owner, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)
    judge(claimed(small_pool, ada, n=1)[0], ada, 1)

    assert waive_double_labels(pool=small_pool, actor=owner) == 1

    small_pool.refresh_from_db()
    assert (small_pool.n_wanted, small_pool.n_waived) == (3, 1)
    waived = Slot.objects.get(state="waived")
    assert (waived.annotator, waived.lease_expires_at) == (None, None)
    assert (waived.is_later, waived.arm) == (False, "")
    assert AuditEvent.objects.get(action="waive-double-labels").detail["n_labels"] == 1
    assert len(judge_all(small_pool, ann)) == 1
    assert waive_double_labels(pool=small_pool, actor=owner) == 1
    assert work_state(Pool.objects.get(), ann).work is Work.FINISHED


def test_who_could_not_judge_leaves_the_further_label_wanted(benchmark, owner, ada):
    """Waived with it, the document would be left without any grade."""
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)
    first, second = claimed(small_pool, ada, n=2)
    record_cant_judge(
        slot=first, actor=ada, reason="Unclear", client_id=uuid.uuid4(), display=Shown()
    )
    judge(second, ada, 0)

    assert holding.second_labels(small_pool).count() == 1
    assert waive_double_labels(pool=small_pool, actor=owner) == 1

    assert Slot.objects.get(state="waived").entry == second.entry


def test_what_is_to_be_judged_anew_or_is_a_check_is_no_double_label(benchmark, owner, ada, ann):
    """Nor does a check make a document one that has a label."""
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)
    first, second = claimed(small_pool, ada, n=2)
    judge(first, ada, 1)
    for slot, values in (
        (first, {"kind": "rejudge", "round": 2}),
        (second, {"kind": "gold", "state": "done", "annotator": ann}),
    ):
        Slot.objects.create(
            pool=small_pool, query=slot.query, entry=slot.entry, queue_position=99, **values
        )

    assert waive_double_labels(pool=small_pool, actor=owner) == 1

    assert Slot.objects.get(kind="rejudge").state == "free"
    assert Slot.objects.get(state="waived").entry == first.entry


# --- orders that learn ----------------------------------------------------------------------------


def test_an_order_that_learns_follows_what_was_found_relevant(benchmark, ada):
    small_pool = pool(benchmark, {"q1": [f"d{n}" for n in range(6)]}, order="maxmean")
    small_pool.parameters = {"burn_in": 1}
    ranks = [("good", 1), ("bad", 1), ("bad", 2), ("bad", 3), ("good", 2), ("good", 3)]
    for entry, (run, rank) in zip(small_pool.entries.order_by("priority"), ranks, strict=True):
        PoolEntry.objects.filter(pk=entry.pk).update(contributors={run: rank}, best_rank=rank)
    for slot in claimed(small_pool, ada, n=2):
        assert slot.arm == ""
        assert slot.lease_expires_at > statements.clock()
        judge(slot, ada, 3 if slot.entry.document.docid == "d0" else 0)

    slots = claimed(small_pool, ada, n=2)

    assert docids(slots) == {"d4", "d5"}
    assert {slot.arm for slot in slots} == {"good"}


def test_run_that_chose_a_document_is_named_in_up_to_120_characters(benchmark, ada):
    small_pool = pool(benchmark, {"q1": [f"d{n}" for n in range(3)]}, order="maxmean")
    small_pool.parameters = {"burn_in": 1}
    for rank, entry in enumerate(small_pool.entries.order_by("priority"), start=1):
        ranks = {"contributors": {"r" * 130: rank}, "best_rank": rank}
        PoolEntry.objects.filter(pk=entry.pk).update(**ranks)
    for slot in claimed(small_pool, ada, n=1):
        judge(slot, ada, 3)

    assert {slot.arm for slot in claimed(small_pool, ada, n=2)} == {"r" * 120}


def test_order_that_learns_takes_most_labels_that_stand_and_a_draw_as_relevant(benchmark, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)
    query = benchmark.queries.get()
    for person, grades in ((ada, {"d1": 3, "d2": 3}), (ann, {"d1": 0, "d2": 0})):
        for slot in claimed(small_pool, person):
            judge(slot, person, grades[slot.entry.document.docid])
    entry_of = dict(small_pool.entries.values_list("document__docid", "pk"))
    judge(small_pool.slots.get(entry=entry_of["d2"], annotator=ada), ada, 0)

    relevance = statements.relevance_in_query(small_pool.pk, benchmark.pk, query.pk)

    assert relevance == {entry_of["d1"]: True, entry_of["d2"]: False}


def test_what_was_added_by_hand_is_no_part_of_a_querys_budget(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]})
    small_pool.entries.filter(document__docid="d2").update(origin=PoolEntry.Origin.MANUAL)
    assert len(claimed(small_pool, ada)) == 2

    assert statements.n_begun(small_pool.pk, benchmark.queries.get().pk) == 1


def test_a_document_whose_further_label_was_waived_is_settled(benchmark, owner, ada, ann):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)
    judge(claimed(small_pool, ada, n=1)[0], ada, 1)
    query = benchmark.queries.get().pk
    assert statements.place(small_pool.pk, query, ann.pk) == (2, 2)

    waive_double_labels(pool=small_pool, actor=owner)

    assert statements.place(small_pool.pk, query, ann.pk) == (2, 1)


def test_a_question_without_an_answer_is_not_shown_beside_its_document(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claimed(small_pool, ada)
    ask_question(slot=slot, actor=ada, client_id=uuid.uuid4(), text="What is it?")

    assert statements.answers([slot.pk], ada.pk) == {}


def test_a_budget_ends_a_query(benchmark, ada):
    small_pool = pool(benchmark, {"q1": ["d1", "d2", "d3"], "q2": ["d4"]}, order="mtf")
    small_pool.parameters = {"burn_in": 1, "budget": 2}

    assert len(judge_all(small_pool, ada)) == 3
    assert work_state(small_pool, ada).work is Work.FINISHED


def test_no_more_documents_are_handed_out_at_once_than_the_budget_has_left(benchmark, ada):
    small_pool = pool(benchmark, {"q1": [f"d{n}" for n in range(6)]}, order="mtf")
    small_pool.parameters = {"burn_in": 1, "budget": 3}
    for slot in claimed(small_pool, ada, n=2):
        judge(slot, ada, 1)

    assert len(claimed(small_pool, ada, n=4)) == 1


# --- undo, tokens ---------------------------------------------------------------------------------


def test_only_the_newest_fifty_can_be_undone(benchmark, ada):
    small_pool = pool(benchmark, {"q1": [f"d{n}" for n in range(52)]})
    slots = claimed(small_pool, ada, n=52)
    saved = [judge(slot, ada, 1) for slot in slots]

    def undo(judgment):
        with turn_of(ada.pk):
            return take_back(small_pool, ada.pk, uuid.uuid4(), judgment.client_id)

    assert undo(saved[2]).supersedes == saved[2]
    with pytest.raises(Exception, match="no judgment of yours"):
        undo(saved[1])


def test_a_token_says_nothing_of_what_it_holds():
    screen = Shown("hash", 3, 7, excerpt_chars=10, full_chars=20)
    token = sealed_token(12, 34, screen)

    assert opened_token(token, 34) == (12, screen)
    assert sealed_token(12, 34, screen) == token
    assert sealed_token(13, 34, screen)[:8] != token[:8]
    assert "hash" not in token


def test_a_key_is_each_persons_own_and_stays():
    assert key_of(1, 2) == key_of(1, 2)
    assert len({key_of(1, 2), key_of(2, 1), key_of(1, 3), key_of(12, 1), key_of(1, 21)}) == 5


def test_the_statements_are_what_the_models_say(benchmark, ada):
    """A column that a model gets must not be missed by an insertion that is written out."""
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (slot,) = claimed(small_pool, ada)
    saved = record_judgment(
        slot=slot, actor=ada, grade=2, client_id=uuid.uuid4(), display=Shown("h"), note="why"
    )

    stored = Judgment.objects.get()

    fields = [field.attname for field in Judgment._meta.concrete_fields]
    assert {name: getattr(stored, name) for name in fields} == {
        name: getattr(saved, name) for name in fields
    }
    assert statements.scale(benchmark.pk) == [0, 1, 2, 3]
