"""People do what they like with a pool, step by step, in any order: what must hold always holds."""

import uuid
from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models import Count
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run

from annotation.judging.protocol.errors import NothingToUndoError
from annotation.judging.services.claiming import release_slots, return_slot
from annotation.judging.services.judging import ask_question, put_off, record_judgment, undo_last
from annotation.judging.services.tokens import Shown
from annotation.models import Judgment, Pool, Slot
from tests import factories
from tests.annotation.making import claimed, pool

PEOPLE = ["ada", "ann", "art"]
people = st.sampled_from(PEOPLE)


class Sharing(RuleBasedStateMachine):
    """A pool of two queries, judged twice, by three people."""

    def __init__(self) -> None:
        super().__init__()
        self.database = transaction.atomic()
        self.database.__enter__()
        benchmark = factories.benchmark()
        self.people = {
            name: factories.member(benchmark, f"{name}-{uuid.uuid4().hex}", "annotator")
            for name in PEOPLE
        }
        queries = {"q1": ["d1", "d2", "d3"], "q2": ["d4", "d5"]}
        self.pool = pool(benchmark, queries, overlap=2)
        # Documents on somebody's page, which may have gone to others since.
        self.pages: dict[str, list[Slot]] = {name: [] for name in PEOPLE}
        self.sent: list[tuple[str, Slot, int, uuid.UUID, bool]] = []
        self.questions = []

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.database.__exit__(None, None, None)

    @rule(name=people, n=st.integers(1, 4))
    def claim(self, name, n):
        slots = claimed(self.pool, self.people[name], n=n)
        assert len({slot.entry_id for slot in slots}) == len(slots)
        self.pages[name] = slots

    @precondition(lambda self: any(self.pages.values()))
    @rule(name=people, grade=st.integers(0, 3), place=st.integers(0, 3))
    def judge(self, name, grade, place):
        if not self.pages[name]:
            return
        slot = self.pages[name][place % len(self.pages[name])]
        client_id = uuid.uuid4()
        saved = self._record(name, slot, grade, client_id)
        self.sent.append((name, slot, grade, client_id, saved.is_surplus))

    @precondition(lambda self: self.sent)
    @rule(which=st.integers(0, 20))
    def send_again(self, which):
        name, slot, grade, client_id, was_surplus = self.sent[which % len(self.sent)]
        n_before = Judgment.objects.count()
        assert self._record(name, slot, grade, client_id).is_surplus == was_surplus
        assert Judgment.objects.count() == n_before

    def _record(self, name, slot, grade, client_id):
        actor = self.people[name]
        return record_judgment(
            slot=slot, actor=actor, grade=grade, client_id=client_id, display=Shown()
        )

    @rule(name=people)
    def undo(self, name):
        try:
            undo_last(pool=self.pool, actor=self.people[name], client_id=uuid.uuid4())
        except NothingToUndoError:
            own = Judgment.objects.current().filter(actor=self.people[name])
            assert not own.exists()

    @rule(name=people)
    def let_leases_run_out(self, name):
        past = timezone.now() - timedelta(seconds=1)
        held = Slot.objects.filter(pool=self.pool, annotator=self.people[name], state="claimed")
        held.update(lease_expires_at=past)

    @rule(name=people)
    def stop(self, name):
        release_slots(pool=self.pool, annotator=self.people[name])

    @rule(name=people)
    def put_off_or_ask(self, name):
        held = Slot.objects.held_by(self.people[name]).filter(pool=self.pool).order_by("pk")
        if len(held) > 1:
            put_off(slot=held[0], actor=self.people[name])
            asked = ask_question(
                slot=held[1], actor=self.people[name], client_id=uuid.uuid4(), text="Is it?"
            )
            self.questions.append(asked)

    @precondition(lambda self: self.questions)
    @rule()
    def answer(self):
        return_slot(question=self.questions.pop())

    @rule(state=st.sampled_from([Pool.State.OPEN, Pool.State.PAUSED, Pool.State.OPEN]))
    def turn(self, state):
        Pool.objects.filter(pk=self.pool.pk).update(state=state)

    @invariant()
    def each_slot_has_one_label_at_most(self):
        labels = Judgment.objects.current().filter(slot__pool=self.pool, is_surplus=False)
        doubled = labels.values("slot").annotate(n=Count("pk")).filter(n__gt=1)
        assert not doubled.exists()

    @invariant()
    def a_slot_is_done_if_and_only_if_it_has_its_label(self):
        labels = Judgment.objects.current().filter(slot__pool=self.pool, is_surplus=False)
        done = Slot.objects.filter(pool=self.pool, state="done")
        assert set(labels.values_list("slot", "actor")) == set(done.values_list("pk", "annotator"))

    @invariant()
    def nobody_has_a_document_twice(self):
        mine = Slot.objects.filter(pool=self.pool, annotator__isnull=False)
        doubled = mine.values("entry", "annotator").annotate(n=Count("pk")).filter(n__gt=1)
        assert not doubled.exists()

    @invariant()
    def there_are_as_many_slots_as_labels_wanted(self):
        assert Slot.objects.filter(pool=self.pool).count() == 10

    @invariant()
    def nothing_said_is_lost(self):
        stored = set(Judgment.objects.filter(kind="grade").values_list("client_id", flat=True))
        assert {client_id for *_, client_id, _ in self.sent} <= stored


@pytest.mark.django_db
def test_sharing_holds_whatever_people_do():
    run(
        Sharing,
        settings=settings(
            max_examples=8,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
