"""The rules of pools and of the ledger, as the database keeps them."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import ProtectedError
from django.utils import timezone

from annotation.models import (
    Campaign,
    GradeExample,
    JudgePrompt,
    Judgment,
    MachineLabel,
    Pool,
    PoolEntry,
    Question,
    Slot,
    SparingRule,
    ZeroEntry,
)
from benchmarks_app.models import Benchmark, User
from benchmarks_app.people.services.forgetting import delete_person
from tests.annotation import making, making_machines
from tests.constraints import Case, check, constraints_of, refused

pytestmark = pytest.mark.django_db

LATER = timezone.now() + timedelta(days=1)


@dataclass
class Scene:
    """A pool of one entry with one free slot, and two people."""

    benchmark: Benchmark
    pool: Pool
    ada: User
    bo: User

    @property
    def entry(self) -> PoolEntry:
        return self.pool.entries.get()

    @property
    def slot(self) -> Slot:
        return self.pool.slots.first()


@pytest.fixture
def scene(benchmark, ada, bo) -> Scene:
    return Scene(benchmark, making.pool(benchmark, {"q1": ["d1"]}), ada, bo)


def pool(of: Scene, name: str, **values: Any) -> Pool:
    return of.benchmark.pools.create(name=name, seed=1, created_by=of.bo, **values)


def slot(of: Scene, number: int, **values: Any) -> Slot:
    return Slot.objects.create(
        pool=of.pool,
        query=of.entry.query,
        entry=of.entry,
        number=number,
        queue_position=number,
        **values,
    )


def event(of: Scene, kind: str = "grade", **values: Any) -> Judgment:
    values.setdefault("grade", None if kind in ("cant_judge", "retract") else 1)
    values.setdefault("client_id", uuid.uuid4())
    return Judgment.objects.create(
        benchmark=of.benchmark,
        query=of.entry.query,
        docid="d1",
        kind=kind,
        actor=values.pop("actor", of.ada),
        **values,
    )


def question(of: Scene, **values: Any) -> Question:
    return Question.objects.create(
        entry=of.entry,
        slot=of.slot,
        text="Is a draft relevant?",
        **{"asked_by": of.ada, "client_id": CLIENT_ID, **values},
    )


def prompt(of: Scene, version: int, digest: str) -> Any:
    words = {"template": "{query} {document}", "text": "", "scale": []}
    return of.benchmark.judge_prompts.create(
        version=version, digest=digest, created_by=of.bo, **words
    )


def campaign(of: Scene, **values: Any) -> Campaign:
    return making_machines.campaign(of.pool, **values)


def pair(of: Scene, docid: str = "d1", **values: Any) -> Any:
    of_campaign = Campaign.objects.first() or campaign(of)
    return making_machines.pair(of_campaign, of.entry.query, docid, **values)


def example(of: Scene, **values: Any) -> GradeExample:
    """Of the newest label, or a new one."""
    word = Judgment.objects.order_by("-pk").first() or event(of, "grade")
    facts = {"judgment": word, "text": "So.", "created_by": of.bo, **values}
    return GradeExample.objects.create(benchmark=of.benchmark, **facts)


def rule(of: Scene, **values: Any) -> SparingRule:
    facts = {"n_audit": 200, "n_zeros": 300, "most_missed": 0.02, "checked_share": 0.05, "seed": 1}
    of_campaign = Campaign.objects.first() or campaign(of)
    facts |= {"pool": of.pool, "campaign": of_campaign, "created_by": of.bo, **values}
    return SparingRule.objects.create(**facts)


def zero(of: Scene, part: str = "spared", **values: Any) -> ZeroEntry:
    of_rule = SparingRule.objects.first() or rule(of)
    return ZeroEntry.objects.create(rule=of_rule, entry=of.entry, part=part, **values)


def machine_label(of: Scene, **values: Any) -> Judgment:
    of_campaign = Campaign.objects.first() or campaign(of)
    return making_machines.label(of_campaign, of.entry.query, "d1", 1, **values)


def run_of(of: Scene) -> Any:
    return of.benchmark.runs.filter(name="bm25").first() or of.benchmark.runs.create(
        name="bm25", owner=of.bo, n_rows=1, n_queries=1, depth=1
    )


CLIENT_ID = uuid.UUID(int=1)
NOW = timezone.now()
CASES = {
    "pool_name_once": Case(
        good=lambda of: [pool(of, "first"), pool(of, "first"), pool(of, "first", state="open")],
        bad=lambda of: pool(of, "first", state="closed"),
    ),
    "pool_overlap_from_1": Case(
        good=lambda of: pool(of, "one", overlap=1), bad=lambda of: pool(of, "none", overlap=0)
    ),
    "pool_run_once": Case(
        good=lambda of: of.pool.pool_runs.create(run=run_of(of), depth=5),
        bad=lambda of: of.pool.pool_runs.create(run=run_of(of), depth=10),
    ),
    "pool_run_depth_from_1": Case(
        good=lambda of: None, bad=lambda of: of.pool.pool_runs.create(run=run_of(of), depth=0)
    ),
    "pool_entry_once": Case(
        good=lambda of: making.pool(of.benchmark, {"q1": ["d1"]}),
        bad=lambda of: of.pool.entries.create(
            query=of.entry.query, document=of.entry.document, best_rank=2, priority=9
        ),
    ),
    "slot_number_once": Case(
        good=lambda of: [slot(of, 2), slot(of, 1, kind="repeat"), slot(of, 1, round=2)],
        bad=lambda of: slot(of, 1),
    ),
    "slot_once_per_person": Case(
        good=lambda of: [
            slot(of, 2, annotator=of.ada, state="done"),
            slot(of, 3, annotator=of.bo, state="done"),
            slot(of, 2, annotator=of.ada, state="done", kind="repeat"),
        ],
        bad=lambda of: slot(of, 4, annotator=of.ada, state="done"),
    ),
    "slot_once_per_rater": Case(
        good=lambda of: [
            slot(of, 2, rater="W1", state="done"),
            slot(of, 3, rater="W2", state="done"),
        ],
        bad=lambda of: slot(of, 4, rater="W1", state="done"),
    ),
    "slot_number_from_1": Case(good=lambda of: slot(of, 2), bad=lambda of: slot(of, 0)),
    "slot_state_has_person": Case(
        good=lambda of: slot(of, 2, annotator=of.ada, state="claimed", lease_expires_at=NOW),
        bad=lambda of: slot(of, 3, state="claimed", lease_expires_at=NOW),
    ),
    "judgment_client_id_once": Case(
        good=lambda of: [event(of, client_id=CLIENT_ID, actor=who) for who in (of.ada, of.bo)],
        bad=lambda of: event(of, client_id=CLIENT_ID, grade=3),
    ),
    "judgment_grade_where_due": Case(
        good=lambda of: [
            *[event(of, kind) for kind in ("grade", "import", "machine")],
            event(of, "adjudicate", outcome="pick"),
            event(of, "adjudicate", outcome="query_ambiguous", grade=None),
        ],
        bad=lambda of: event(of, "grade", grade=None),
    ),
    "judgment_cant_has_reason": Case(
        good=lambda of: event(of, "cant_judge", reason="cut off"),
        bad=lambda of: event(of, "cant_judge"),
    ),
    "judgment_retract_names_event": Case(
        good=lambda of: event(of, "retract", supersedes=event(of)),
        bad=lambda of: event(of, "retract"),
    ),
    "judgment_machine_fills_no_slot": Case(
        good=lambda of: [event(of, "machine"), event(of, "import", slot=of.slot, purpose="label")],
        bad=lambda of: event(of, "machine", slot=of.slot),
    ),
    "judge_prompt_once": Case(
        good=lambda of: [prompt(of, 1, "a"), prompt(of, 2, "b")],
        bad=lambda of: prompt(of, 3, "a"),
    ),
    "judge_prompt_version_once": Case(
        good=lambda of: prompt(of, 1, "a"), bad=lambda of: prompt(of, 1, "b")
    ),
    "campaign_name_once": Case(
        good=lambda of: [campaign(of, name="first"), campaign(of, name="second")],
        bad=lambda of: campaign(of, name="first"),
    ),
    "campaign_concurrency_1_to_64": Case(
        good=lambda of: [campaign(of, concurrency=1), campaign(of, concurrency=64)],
        bad=lambda of: campaign(of, concurrency=65),
    ),
    "campaign_cap_above_0": Case(
        good=lambda of: [campaign(of, cost_cap=0.01), campaign(of)],
        bad=lambda of: campaign(of, cost_cap=0),
    ),
    "campaign_sample_was_drawn": Case(
        good=lambda of: [campaign(of, choice="sample", n_sample=1, seed=0), campaign(of)],
        bad=lambda of: campaign(of, choice="sample", n_sample=1),
    ),
    "campaign_pair_once": Case(
        good=lambda of: [pair(of, number=1), pair(of, "d2", number=2)],
        bad=lambda of: pair(of, number=3),
    ),
    "campaign_number_once": Case(
        good=lambda of: pair(of, number=1), bad=lambda of: pair(of, "d2", number=1)
    ),
    "campaign_pair_graded_has_label": Case(
        good=lambda of: pair(of, number=1, state="graded", judgment=event(of, "machine")),
        bad=lambda of: pair(of, "d2", number=2, state="graded"),
    ),
    "campaign_pair_failed_says_why": Case(
        good=lambda of: pair(of, number=1, state="failed", error_code="judge-answer"),
        bad=lambda of: pair(of, "d2", number=2, state="failed"),
    ),
    "sparing_rule_one_lives": Case(
        good=lambda of: [rule(of, state="stopped", ended_at=NOW), rule(of)],
        bad=lambda of: [rule(of), rule(of, state="on", allowed_at=NOW)],
    ),
    "sparing_rule_audits_enough": Case(good=rule, bad=lambda of: rule(of, n_audit=199)),
    "sparing_rule_misses_few": Case(
        good=lambda of: rule(of, most_missed=0.001), bad=lambda of: rule(of, most_missed=0.03)
    ),
    "sparing_rule_checks_enough": Case(good=rule, bad=lambda of: rule(of, checked_share=0.04)),
    "sparing_rule_on_was_allowed": Case(
        good=lambda of: rule(of, state="on", allowed_at=NOW), bad=lambda of: rule(of, state="on")
    ),
    "sparing_rule_ended_has_time": Case(
        good=lambda of: rule(of, state="refused", ended_at=NOW),
        bad=lambda of: rule(of, state="refused"),
    ),
    "zero_entry_once": Case(
        good=zero, bad=lambda of: [zero(of), zero(of, "check", probability=0.05)]
    ),
    "zero_entry_drawn_has_probability": Case(
        good=lambda of: zero(of, "audit", probability=1), bad=lambda of: zero(of, "audit")
    ),
    "grade_example_once_a_judgment": Case(
        good=lambda of: [example(of, withdrawn_at=LATER), example(of)],
        bad=lambda of: [example(of), example(of)],
    ),
    "grade_example_says_something": Case(
        good=example,
        bad=lambda of: example(of, text=""),
    ),
    "grade_example_withdrawn_later": Case(
        good=lambda of: example(of, withdrawn_at=LATER),
        bad=lambda of: example(of, withdrawn_at=LATER - timedelta(days=2)),
    ),
    "machine_label_cost_from_0": Case(
        good=lambda of: [machine_label(of, cost=0.0), machine_label(of, cost=None)],
        bad=lambda of: machine_label(of, cost=-0.1),
    ),
    "pool_shares_are_shares": Case(
        good=lambda of: pool(of, "tenth", double_share=0.1, repeat_share=0, gold_share=1),
        bad=lambda of: pool(of, "percent", double_share=10),
    ),
    "pool_annotator_once": Case(
        good=lambda of: [of.pool.pool_annotators.create(annotator=who) for who in (of.ada, of.bo)],
        bad=lambda of: of.pool.pool_annotators.create(annotator=of.ada),
    ),
    "pool_start_once": Case(
        good=lambda of: [of.pool.starts.create(annotator=who) for who in (of.ada, of.bo)],
        bad=lambda of: of.pool.starts.create(annotator=of.ada),
    ),
    "question_once": Case(
        good=lambda of: [question(of, asked_by=who) for who in (of.ada, of.bo)],
        bad=lambda of: question(of),
    ),
    "question_answer_has_text": Case(
        good=lambda of: question(of, answer="Yes.", answered_at=NOW),
        bad=lambda of: question(of, answered_at=NOW, client_id=uuid.uuid4()),
    ),
}


@pytest.mark.parametrize("name", constraints_of("annotation"))
def test_constraint_refuses_what_it_names(scene, name):
    check("annotation", name, CASES, scene)


@pytest.mark.parametrize(
    "values",
    [
        {"state": "free", "annotator": True},
        {"state": "claimed", "annotator": True},
        {"state": "claimed", "lease_expires_at": NOW},
        {"state": "done"},
        {"state": "lost", "annotator": True},
    ],
)
def test_slot_without_what_its_state_means_is_refused(scene, values):
    if values.get("annotator"):
        values = {**values, "annotator": scene.ada}

    with refused("slot_state_has_person"):
        slot(scene, 2, **values)


@pytest.mark.parametrize(
    ("kind", "grade"),
    [("cant_judge", 1), ("retract", 1), ("adjudicate", None), ("import", None), ("guess", 1)],
)
def test_event_of_a_kind_without_its_grade_is_refused(scene, kind, grade):
    with refused("judgment_grade_where_due"):
        event(scene, kind, grade=grade, reason="why", supersedes=event(scene))


def test_event_is_superseded_once(scene):
    first = event(scene)
    event(scene, grade=2, supersedes=first)

    with refused("supersedes"):
        event(scene, grade=3, supersedes=first)


# --- the ledger ----------------------------------------------------------------------------------


def sql(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


@pytest.mark.parametrize(
    "change",
    [
        lambda it: Judgment.objects.update(grade=3),
        lambda it: Judgment.objects.filter(pk=it.pk).delete(),
        lambda it: it.delete(),
        lambda it: it.save(),
        lambda it: Judgment.objects.bulk_update([it], ["grade"]),
        lambda it: Judgment.objects.filter(pk=it.pk)._raw_delete("default"),
        lambda it: sql("UPDATE annotation_judgment SET actor_id = actor_id"),
        lambda it: sql("DELETE FROM annotation_judgment WHERE id = %s", it.pk),
    ],
)
def test_judgment_is_neither_changed_nor_deleted(scene, change):
    judgment = event(scene)

    with refused("the ledger of judgments is append-only"):
        change(judgment)

    assert list(Judgment.objects.values_list("pk", "grade")) == [(judgment.pk, 1)]


@pytest.mark.parametrize(
    "change",
    [
        lambda it: MachineLabel.objects.update(raw="another"),
        lambda it: MachineLabel.objects.update(judge_name="another"),
        lambda it: it.delete(),
        lambda it: sql("DELETE FROM annotation_machinelabel WHERE id = %s", it.pk),
    ],
)
def test_what_is_told_of_a_machines_label_is_neither_changed_nor_deleted(scene, change):
    machine = machine_label(scene).machine

    with refused("what is told of a label is append-only"):
        change(machine)


def test_a_prompt_never_changes(scene):
    machine_label(scene)

    with refused("a prompt never changes"):
        JudgePrompt.objects.update(template="another")


@pytest.mark.parametrize(
    "whose",
    [
        lambda of: of.ada,
        lambda of: of.benchmark,
        lambda of: of.entry.query,
        lambda of: of.slot,
        lambda of: of.pool,
    ],
    ids=["actor", "benchmark", "query", "slot", "pool"],
)
def test_what_a_judgment_speaks_of_is_not_deleted(scene, whose):
    event(scene, slot=scene.slot)

    with pytest.raises(ProtectedError):
        whose(scene).delete()

    assert Judgment.objects.count() == 1


def test_account_with_judgments_is_forgotten_and_its_judgments_stay(scene):
    judgment = event(scene, slot=scene.slot)

    delete_person(user=scene.ada, actor=None)

    kept = Judgment.objects.get()
    assert (kept.pk, kept.grade, kept.actor_id) == (judgment.pk, 1, scene.ada.pk)
    assert kept.actor.is_anonymised
    assert "ada" not in (kept.actor.username + kept.actor.email)
