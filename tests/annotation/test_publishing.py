import uuid

import pytest

from annotation.core.rules import DEFAULT_RULE, qrels_digest
from annotation.models import Judgment
from annotation.services import publishing
from annotation.services.claiming import claim_slots
from annotation.services.judging import record_cant_judge, undo_last
from annotation.services.tokens import Shown
from benchmarks_app.core.import_errors import QrelSetNameTakenError
from benchmarks_app.models import Job, Qrel, QrelSet
from tests import factories
from tests.annotation.making import judge, pool
from tests.annotation.test_claiming import expire

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(benchmark):
    return factories.member(benchmark, "ann", "annotator")


@pytest.fixture
def publish(benchmark, owner, do_jobs):
    """A function that publishes the ledger and returns the finished job."""

    def publishing_as(name="ours") -> Job:
        arguments = publishing.publishing_arguments(
            benchmark=benchmark, name=name, rule=DEFAULT_RULE.name
        )
        publishing.jobs.start(benchmark=benchmark, user=owner, **arguments)
        return do_jobs()[-1]

    return publishing_as


def grades(name="ours") -> dict[tuple[str, str], int]:
    rows = Qrel.objects.filter(qrel_set__name=name)
    return {
        (qid, docid): grade
        for qid, docid, grade in rows.values_list("query__qid", "docid", "grade")
    }


def judge_all(made, person, *given):
    """Grade what the person is given, document by document in the order of ids."""
    slots = claim_slots(pool=made, annotator=person, n=len(given))
    in_order = sorted(slots, key=lambda slot: slot.entry.document.docid)
    return [judge(slot, person, grade) for slot, grade in zip(in_order, given, strict=True)]


def test_grades_become_a_set_of_their_own(benchmark, ada, publish):
    official = factories.qrel_set(benchmark, {("q1", "d1"): 0}, name="official")
    made = pool(benchmark, {"q1": ["d1", "d2"]})
    judge_all(made, ada, 3, 1)

    assert publish().state == "done"

    ours = QrelSet.objects.get(name="ours")
    assert grades() == {("q1", "d1"): 3, ("q1", "d2"): 1}
    assert (ours.kind, ours.state, ours.staged_by) == ("human", "ready", None)
    assert (ours.rule, ours.rule_version) == ("lower-median", 1)
    assert (ours.n_qrels, ours.n_queries, ours.n_relevant) == (2, 1, 2)
    assert official.qrels.get().grade == 0


def test_two_grades_give_their_lower_median(benchmark, ada, ann, publish):
    made = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)
    judge_all(made, ada, 3, 1)
    judge_all(made, ann, 2, 1)

    publish()

    assert grades() == {("q1", "d1"): 2, ("q1", "d2"): 1}


def test_extra_labels_count_and_cant_judge_does_not(benchmark, ada, ann, publish):
    made = pool(benchmark, {"q1": ["d1"], "q2": ["d2"]})
    held = claim_slots(pool=made, annotator=ada, n=1)
    expire(held)
    judge_all(made, ann, 3)
    judge(held[0], ada, 1)
    (other,) = claim_slots(pool=made, annotator=ada, n=1)
    record_cant_judge(slot=other, actor=ada, reason="?", client_id=uuid.uuid4(), shown=Shown())

    publish()

    assert grades() == {("q1", "d1"): 1}


def test_what_was_undone_is_not_published(benchmark, ada, publish):
    made = pool(benchmark, {"q1": ["d1", "d2"]})
    judge_all(made, ada, 3, 1)
    undo_last(pool=made, actor=ada, client_id=uuid.uuid4())

    publish()

    assert grades() == {("q1", "d1"): 3}


def test_a_set_equals_a_replay_up_to_its_event_whatever_came_later(benchmark, ada, publish):
    made = pool(benchmark, {"q1": ["d1", "d2", "d3"]})
    judge_all(made, ada, 3)
    publish()
    ours = QrelSet.objects.get(name="ours")
    before = grades()
    judge_all(made, ada, 2, 0)
    undo_last(pool=made, actor=ada, client_id=uuid.uuid4())
    undo_last(pool=made, actor=ada, client_id=uuid.uuid4())
    undo_last(pool=made, actor=ada, client_id=uuid.uuid4())

    replayed = list(publishing.qrels_as_of(benchmark, DEFAULT_RULE, ours.as_of_event))

    assert {(row.query, row.docid): row.grade for row in replayed} == before == grades()
    assert qrels_digest(replayed) == ours.digest


def test_the_event_recorded_is_the_ledgers_last(benchmark, ada, publish):
    judge_all(pool(benchmark, {"q1": ["d1"]}), ada, 2)

    publish()

    assert QrelSet.objects.get(name="ours").as_of_event == Judgment.objects.latest("pk").pk


def test_the_same_ledger_gives_an_equal_digest(benchmark, ada, publish):
    judge_all(pool(benchmark, {"q1": ["d1", "d2"]}), ada, 2, 0)

    assert publish().result["digest"] == publish("again").result["digest"]


def test_an_empty_ledger_is_not_published(benchmark, publish):
    job = publish()

    assert job.state == "failed"
    assert "Nobody has graded a document yet" in job.error
    assert not QrelSet.objects.exists()


def test_a_second_set_of_one_name_is_refused(benchmark, ada, publish):
    judge_all(pool(benchmark, {"q1": ["d1"]}), ada, 2)
    publish()

    with pytest.raises(QrelSetNameTakenError, match="named 'ours'"):
        publish()


def test_an_attempt_that_died_leaves_no_set(benchmark, ada, publish, monkeypatch):
    judge_all(pool(benchmark, {"q1": ["d1"]}), ada, 2)

    def die(_):
        raise RuntimeError("power cut")

    monkeypatch.setattr(publishing, "qrels_digest", die)

    assert publish().state == "failed"
    assert not QrelSet.objects.exists()


def test_the_command_publishes(benchmark, owner, ada, capsys):
    from django.core.management import call_command

    judge_all(pool(benchmark, {"q1": ["d1"]}), ada, 2)

    call_command("publish_qrels", benchmark.slug, name="ours")

    assert "1 grades as of event" in capsys.readouterr().out
    assert grades() == {("q1", "d1"): 2}
