import uuid
from datetime import timedelta

import krippendorff
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.agreement.services.adjudicating import adjudicate
from annotation.common.selectors.ledger import annotators_of, ledger_events
from annotation.common.services.policies import set_policy
from annotation.judging.services.judging import record_cant_judge, undo_last
from annotation.judging.services.tokens import Shown
from annotation.labels.services import publishing
from annotation.models import AggregationPolicy, Judgment, Pool
from annotation.release_facts import annotation_facts
from benchmarks_app.models import Job, Qrel, QrelSet
from benchwright.formats.errors import QrelSetNameTakenError
from benchwright.qrels.errors import NotAnAnnotatorError
from benchwright.qrels.rules import (
    DEFAULT_RULE,
    Derivation,
    Settings,
    Unresolved,
    qrels_digest,
    rule_named,
)
from tests import factories
from tests.annotation.judging.test_claiming import expire
from tests.annotation.making import claimed, judge, pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(benchmark):
    return factories.member(benchmark, "ann", "annotator")


@pytest.fixture
def publish(benchmark, owner, do_jobs):
    """A function that publishes the ledger and returns the finished job."""

    def publishing_as(name="ours", **fields) -> Job:
        arguments = publishing.publishing_arguments(benchmark=benchmark, name=name, **fields)
        publishing.jobs.start(benchmark=benchmark, user=owner, **arguments)
        return do_jobs()[-1]

    return publishing_as


def grades(name="ours") -> dict[tuple[str, str], int]:
    rows = Qrel.objects.filter(qrel_set__name=name)
    return {
        (qid, docid): grade
        for qid, docid, grade in rows.values_list("query__qid", "docid", "grade")
    }


def judge_all(made, person, *arguments):
    """Grade what the person is given, document by document in the order of ids."""
    slots = claimed(made, person, n=len(arguments))
    in_order = sorted(slots, key=lambda slot: slot.entry.document.docid)
    return [judge(slot, person, grade) for slot, grade in zip(in_order, arguments, strict=True)]


def test_grades_become_a_set_of_their_own(benchmark, ada, publish):
    official = factories.qrel_set(benchmark, {("q1", "d1"): 0}, name="official")
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]})
    judge_all(small_pool, ada, 3, 1)

    assert publish().state == "done"

    ours = QrelSet.objects.get(name="ours")
    assert grades() == {("q1", "d1"): 3, ("q1", "d2"): 1}
    assert (ours.kind, ours.state, ours.staged_by) == ("human", "ready", None)
    assert (ours.rule, ours.rule_version) == ("adjudicated-first", 1)
    assert (ours.n_qrels, ours.n_queries, ours.n_relevant) == (2, 1, 2)
    assert official.qrels.get().grade == 0


def test_two_grades_give_their_lower_median(benchmark, ada, ann, publish):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)
    judge_all(small_pool, ada, 3, 1)
    judge_all(small_pool, ann, 2, 1)

    publish()

    assert grades() == {("q1", "d1"): 2, ("q1", "d2"): 1}


def test_extra_labels_count_and_cant_judge_does_not(benchmark, ada, ann, publish):
    small_pool = pool(benchmark, {"q1": ["d1"], "q2": ["d2"]})
    held = claimed(small_pool, ada, n=1)
    expire(held)
    judge_all(small_pool, ann, 3)
    judge(held[0], ada, 1)
    (other,) = claimed(small_pool, ada, n=1)
    record_cant_judge(slot=other, actor=ada, reason="?", client_id=uuid.uuid4(), display=Shown())

    publish()

    assert grades() == {("q1", "d1"): 1}


def test_what_was_undone_is_not_published(benchmark, ada, publish):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]})
    judge_all(small_pool, ada, 3, 1)
    undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())

    publish()

    assert grades() == {("q1", "d1"): 3}


def test_a_set_equals_a_replay_up_to_its_event_whatever_came_later(benchmark, ada, publish):
    small_pool = pool(benchmark, {"q1": ["d1", "d2", "d3"]})
    judge_all(small_pool, ada, 3)
    publish()
    ours = QrelSet.objects.get(name="ours")
    before = grades()
    judge_all(small_pool, ada, 2, 0)
    undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())
    undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())
    undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())

    replayed = list(Derivation(DEFAULT_RULE).of(ledger_events(benchmark, ours.as_of_event)))

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
    judge_all(pool(benchmark, {"q1": ["d1"]}), ada, 2)

    call_command("publish_qrels", benchmark.slug, name="ours")

    assert "1 grade as of event" in capsys.readouterr().out
    assert grades() == {("q1", "d1"): 2}


# --- as of when -----------------------------------------------------------------------------------


def test_a_set_as_of_an_event_is_the_one_that_was_published_then(benchmark, ada, publish):
    small_pool = pool(benchmark, {"q1": ["d1", "d2", "d3"]})
    judge_all(small_pool, ada, 3)
    publish()
    then = QrelSet.objects.get(name="ours")
    judge_all(small_pool, ada, 2, 0)

    publish("again", as_of=then.as_of_event)

    again = QrelSet.objects.get(name="again")
    assert (again.as_of_event, again.digest) == (then.as_of_event, then.digest)
    assert grades("again") == {("q1", "d1"): 3}


def test_a_time_means_the_last_event_recorded_by_then(benchmark, ada, publish):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]})
    (first,) = judge_all(small_pool, ada, 3)
    moment = timezone.now()
    judge_all(small_pool, ada, 1)

    publish(as_of=moment)

    ours = QrelSet.objects.get(name="ours")
    assert ours.as_of_event == first.pk
    assert ours.parameters["as_of_time"] == moment.isoformat()
    assert grades() == {("q1", "d1"): 3}


@pytest.mark.parametrize(
    ("as_of", "words"),
    [
        (10**9, "There is no event 1000000000 yet"),
        (timezone.now() - timedelta(days=999), "Nobody had judged anything by"),
    ],
)
def test_what_the_ledger_has_not_is_refused(benchmark, ada, publish, as_of, words):
    judge_all(pool(benchmark, {"q1": ["d1"]}), ada, 2)

    job = publish(as_of=as_of)

    assert job.state == "failed"
    assert words in job.error
    assert not QrelSet.objects.exists()


# --- rules, open labels, waived ones --------------------------------------------------------------


@pytest.fixture
def disputed(benchmark, ada, ann):
    """Four documents: one label, two equal, two neighbours, two far apart."""
    small_pool = pool(benchmark, {"q1": ["d1", "d2", "d3", "d4"]}, overlap=2)
    judge_all(small_pool, ada, 2, 2, 2, 3)
    slots = claimed(small_pool, ann, n=4)
    for slot, grade in {"d2": 2, "d3": 1, "d4": 0}.items():
        of = next(candidate for candidate in slots if candidate.entry.document.docid == slot)
        judge(of, ann, grade)
    return small_pool


@pytest.mark.parametrize(
    ("rule", "unresolved", "expected"),
    [
        ("adjudicated-first", "lower-median", [2, 2, 1, 0]),
        ("adjudicated-first", "leave-out", [2, 2, 1]),
        ("upper-median", "leave-out", [2, 2, 2, 3]),
        ("single", "refuse", [2, 2, 2, 3]),
    ],
)
def test_the_rule_and_what_becomes_of_open_labels_are_recorded(
    benchmark, disputed, publish, rule, unresolved, expected
):
    publish(rule=rule, settings=Settings(unresolved=unresolved))

    ours = QrelSet.objects.get(name="ours")
    assert [grade for _, grade in sorted(grades().items())] == expected
    assert (ours.rule, ours.rule_version) == (rule, 1)
    assert ours.parameters["settings"]["unresolved"] == unresolved
    assert ours.parameters["n_labels"] == 7
    assert ours.parameters["n_unresolved"] == (rule == "adjudicated-first")
    events, settings = ledger_events(benchmark, ours.as_of_event), ours.parameters["settings"]
    replayed = Derivation(rule_named(rule), Settings(**settings)).of(events)
    assert qrels_digest(replayed) == ours.digest


def test_open_labels_can_stop_the_publishing(disputed, publish):
    job = publish(settings=Settings(unresolved="refuse"))

    assert job.state == "failed"
    assert "1 documents have labels that disagree" in job.error
    assert not QrelSet.objects.exists()


def test_by_default_the_benchmarks_policy_is_followed(benchmark, owner, disputed, publish):
    result = Settings(unresolved="leave-out", adjudicate_from=1)
    set_policy(
        benchmark=benchmark, rule=rule_named("adjudicated-first"), settings=result, actor=owner
    )

    publish()

    assert grades() == {("q1", "d1"): 2, ("q1", "d2"): 2}


def test_a_release_says_what_was_waived_and_left_open(
    benchmark, owner, signed_in, disputed, publish
):
    Pool.objects.filter(pk=disputed.pk).update(n_waived=1)
    publish()

    release = factories.release(QrelSet.objects.get(name="ours"), "1.0.0")

    qrels = release.manifest["qrels"]
    assert qrels["rule"] == "adjudicated-first v1"
    assert (qrels["derivation"]["n_waived"], qrels["derivation"]["n_unresolved"]) == (1, 1)
    page = signed_in(owner).get(release.get_absolute_url()).content.decode()
    assert "1 second label that was wanted and given up" in page
    assert "1 document with labels that nobody settled: the lower median counts" in page


def test_policies_of_the_model_are_those_of_the_rules():
    assert set(AggregationPolicy.Unresolved.values) == set(Unresolved)


# --- what was judged to learn or as a check -------------------------------------------------------


@pytest.mark.parametrize("purpose", ["practice", "repeat", "gold"])
def test_labels_with_another_purpose_are_in_no_set(benchmark, ada, publish, purpose):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    (judgment,) = judge_all(small_pool, ada, 1)
    Judgment.objects.create(
        benchmark=benchmark,
        query=judgment.query,
        docid="d1",
        kind="grade",
        grade=3,
        actor=ada,
        purpose=purpose,
        client_id=uuid.uuid4(),
    )

    publish(rule="lower-median")

    assert grades() == {("q1", "d1"): 1}
    assert QrelSet.objects.get(name="ours").parameters["events"] == {"grade": 1}


# --- one person's view ----------------------------------------------------------------------------


def test_one_persons_view_is_a_set_of_its_own_under_a_pseudonym(benchmark, ada, ann, publish):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)
    judge_all(small_pool, ada, 3, 1)
    judge_all(small_pool, ann, 0, 1)

    publish("", annotator=ann)

    view = QrelSet.objects.get()
    assert view.kind == "annotator"
    assert view.name.startswith("annotator-")
    assert view.parameters["annotator"] == view.name
    assert "ann," not in f"{view.name},{view.parameters},"
    assert grades(view.name) == {("q1", "d1"): 0, ("q1", "d2"): 1}


def from_a_file(benchmark, person, docid: str, grade: int, rater: str = "w1") -> None:
    Judgment.objects.create(
        benchmark=benchmark, query=benchmark.queries.get(), docid=docid, kind="import",
        grade=grade, actor=person, rater=rater, client_id=uuid.uuid4(),
    )  # fmt: skip


@pytest.mark.parametrize("how", ["without", "undone"])
def test_a_set_of_labels_from_files_alone_is_not_called_our_own(
    benchmark, owner, ada, publish, how
):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    judge_all(small_pool, ada, 3)
    from_a_file(benchmark, owner, "d2", 1)
    publish("both")
    if how == "undone":
        undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())

    publish("files", without=[ada] if how == "without" else ())

    both, files = QrelSet.objects.order_by("pk")
    assert (both.kind, files.kind) == ("human", "imported")
    assert both.parameters["events"] == {"grade": 1, "import": 1}
    assert grades("files") == {("q1", "d2"): 1}


def test_view_and_set_without_somebody_tell_of_their_own_events_alone(
    benchmark, owner, ada, ann, publish
):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    judge_all(small_pool, ada, 3)
    judge_all(small_pool, ann, 2)
    from_a_file(benchmark, owner, "d1", 1)

    publish("", annotator=ada)
    publish("others", without=[ada])

    view, others = QrelSet.objects.order_by("pk")
    assert view.parameters["events"] == {"grade": 1}
    assert others.parameters["events"] == {"grade": 1, "import": 1}


def test_set_without_somebody_keeps_what_they_settled_and_entered(benchmark, ada, ann, bo, publish):
    judge_all(pool(benchmark, {"q1": ["d3"]}), bo, 2)
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    judge_all(small_pool, ada, 3)
    judge_all(small_pool, ann, 0)
    adjudicate(
        benchmark=benchmark, query=benchmark.queries.get(), docid="d1", actor=bo, outcome="pick",
        grade=3, client_id=uuid.uuid4(),
    )  # fmt: skip
    from_a_file(benchmark, bo, "d2", 1)

    publish("others", without=[bo])

    assert grades("others") == {("q1", "d1"): 3, ("q1", "d2"): 1}


def test_somebody_without_grades_has_no_view(benchmark, ada, bo):
    judge_all(pool(benchmark, {"q1": ["d1"]}), ada, 2)

    with pytest.raises(NotAnAnnotatorError, match="'bo' has graded nothing here"):
        publishing.publishing_arguments(benchmark=benchmark, annotator=bo)


def test_who_only_settled_disagreements_has_no_view_and_is_not_offered_one(benchmark, ada, ann, bo):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    judge_all(small_pool, ada, 3)
    judge_all(small_pool, ann, 0)
    query = benchmark.queries.get()
    adjudicate(
        benchmark=benchmark, query=query, docid="d1", actor=bo, outcome="pick", grade=3,
        client_id=uuid.uuid4(),
    )  # fmt: skip

    with pytest.raises(NotAnAnnotatorError, match="'bo' has graded nothing here"):
        publishing.publishing_arguments(benchmark=benchmark, annotator=bo)
    assert list(annotators_of(benchmark)) == [ada, ann]


# --- what a release tells of the labels -----------------------------------------------------------


def test_agreement_of_a_set_is_that_of_the_labels_behind_it(benchmark, ada, ann, bo, publish):
    small_pool = pool(benchmark, {"q1": ["d1", "d2", "d3"], "q2": ["d4", "d5", "d6"]}, overlap=3)
    fields = {ada: (0, 3, 0, 3, 0, 3), ann: (3, 1, 2, 0, 2, 2), bo: (3, 1, 1, 0, 2, 3)}
    for person, grades_of in fields.items():
        judge_all(small_pool, person, *grades_of)
    settled = Settings(adjudicate_from=1, unresolved=Unresolved.LEAVE_OUT)
    rows = {person: [*of] for person, of in fields.items()}
    expected = {
        "all": ([*rows.values()], 3.0),
        "without": ([rows[ann], rows[bo]], 2.0),
        "view": ([rows[ada]], 1.0),
        # What two grade apart and nobody settled has labels, and no grade.
        "settled": ([rows[ann], rows[bo]], 2.0),
    }

    publish("all")
    publish("without", without=[ada])
    publish("view", annotator=ada)
    publish("settled", without=[ada], settings=settled)

    assert QrelSet.objects.get(name="settled").n_qrels == 4
    for name, (labels, per_pair) in expected.items():
        facts = annotation_facts(QrelSet.objects.get(name=name))
        agreement = facts["agreement"]
        assert (agreement["n_annotators"], agreement["n_labels"]) == (len(labels), 6 * len(labels))
        assert facts["labels_per_pair"] == per_pair
        if len(labels) == 1:
            assert (agreement["alpha"], agreement["n_doubled"]) == (None, 0)
        else:
            alpha = krippendorff.alpha(
                labels, level_of_measurement="ordinal", value_domain=[0, 1, 2, 3]
            )
            assert agreement["alpha"] == pytest.approx(alpha)


# --- the page and the command ---------------------------------------------------------------------


def post(client, benchmark, **fields):
    return client.post(reverse("annotation:qrels-publish", args=[benchmark.slug]), fields)


def test_the_form_publishes_what_it_says(benchmark, owner, signed_in, disputed, do_jobs):
    response = post(
        signed_in(owner),
        benchmark,
        name="theirs",
        rule="adjudicated-first",
        unresolved="leave-out",
        adjudicate_from="1",
        as_of=str(Judgment.objects.latest("pk").pk),
    )

    assert response.status_code == 302
    assert [job.state for job in do_jobs()] == ["done"]
    assert grades("theirs") == {("q1", "d1"): 2, ("q1", "d2"): 2}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": "x", "as_of": "yesterday"}, "Write the number of an event, or a time"),
        ({"name": "x", "as_of": "2026-02-31"}, "Write the number of an event, or a time"),
        ({"name": ""}, "This field is required."),
        ({"name": "x", "rule": "mean"}, "Select a valid choice"),
    ],
)
def test_the_form_says_what_is_wrong(benchmark, owner, signed_in, disputed, fields, words):
    response = post(signed_in(owner), benchmark, **{"rule": "single", **fields})

    assert response.status_code == 422
    assert words in response.content.decode()


def test_a_day_means_its_end(benchmark, owner, signed_in, disputed, do_jobs):
    today = f"{timezone.localtime():%Y-%m-%d}"

    post(signed_in(owner), benchmark, name="today", rule="single", as_of=today)

    assert [job.state for job in do_jobs()] == ["done"]
    as_of = QrelSet.objects.get(name="today").as_of_event
    assert as_of == Judgment.objects.latest("pk").pk


def test_the_command_takes_rule_policy_and_event(benchmark, owner, disputed, capsys):
    event = Judgment.objects.earliest("pk").pk
    fields = {"name": "a", "rule": "upper-median", "unresolved": "leave-out"}

    call_command("publish_qrels", benchmark.slug, **fields, as_of=str(event))
    call_command("publish_qrels", benchmark.slug, name="b")

    text = capsys.readouterr().out
    assert f"1 grade as of event {event}" in text
    assert "left open: 1 document" in text
    assert QrelSet.objects.get(name="a").rule == "upper-median"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": "a", "as_of": "soon"}, "expected an event's number or a time"),
        ({}, "Give the set a --name"),
        ({"name": "a", "adjudicate_from": 0}, "expected 1 or more"),
        ({"annotator": "nobody"}, "No user 'nobody'"),
    ],
)
def test_the_command_says_what_is_wrong(benchmark, owner, disputed, fields, words):
    with pytest.raises(CommandError, match=words):
        call_command("publish_qrels", benchmark.slug, **fields)
