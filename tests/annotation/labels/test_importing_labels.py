"""Labels given elsewhere become events that say where they are from: all of a file, or none."""

import hashlib
import re
import uuid
from datetime import timedelta
from importlib import import_module
from io import StringIO

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db.models import Count
from django.utils import timezone

from annotation.common.selectors.stale import stale_labels
from annotation.judging.selectors.work import claimable_by
from annotation.judging.services.judging import undo_last
from annotation.labels.services import importing_labels
from annotation.labels.services.importing_labels import labels_arguments
from annotation.labels.services.publishing import publishing_arguments
from annotation.models import Judgment
from benchmarks_app.collections.services import uploading
from benchmarks_app.common.selectors.reading import benchmark_documents
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, DocumentContent, Qrel
from benchwright.ids import text_hash
from benchwright.qrels.rules import DEFAULT_RULE
from tests import factories
from tests.annotation.making import judge, pool

pytestmark = pytest.mark.django_db

HEADER = "query-id\tcorpus-id\tgrade\tannotator\n"


@pytest.fixture
def asked(benchmark, owner):
    for qid in ("q1", "q2"):
        factories.query(benchmark, qid)
    return benchmark


@pytest.fixture
def bring(tmp_path, owner):
    """A function that imports a text as a file of this name; returns the finished job."""

    def importing(into, text: str, name: str = "labels.tsv", by=None, **options):
        path = tmp_path / name
        path.write_text(text)
        upload = uploading.receive_path(benchmark=into, owner=by or owner, path=path)
        arguments = labels_arguments(upload=upload, **options)
        return jobs.run_here(benchmark=into, user=by or owner, **arguments)

    return importing


def labels() -> list[tuple]:
    rows = Judgment.events.current().order_by("pk")
    return list(rows.values_list("query__qid", "docid", "grade", "rater"))


def test_each_line_is_an_event_of_its_rater_with_its_source(asked, bring, owner):
    job = factories.done(bring(asked, HEADER + "q1\td1\t2\tW1\nq1\td1\t0\tW2\nq2\td9\t3\t\n"))

    assert labels() == [("q1", "d1", 2, "W1"), ("q1", "d1", 0, "W2"), ("q2", "d9", 3, "")]
    event = Judgment.objects.first()
    assert (event.kind, event.actor, event.pool, event.slot, event.purpose) == (
        "import",
        owner,
        None,
        None,
        "",
    )
    assert re.fullmatch(r"labels\.tsv sha256:[0-9a-f]{16}", event.source)
    assert job.result["made"] == ["3 grades of 2 queries"]
    assert AuditEvent.objects.get(action="import-judgments").detail["n_labels"] == 3


def test_qrels_count_as_one_named_annotator(asked, bring):
    factories.done(bring(asked, "q1 0 d1 2\n", "gpt.qrels", rater="GPT-4o", source="LLM" * 60))

    assert labels() == [("q1", "d1", 2, "GPT-4o")]
    assert Judgment.machines.get().source.startswith("LLM" * 50 + " sha256:")


def test_same_file_again_changes_nothing_whoever_brings_it(asked, bring, maintainer):
    text = HEADER + "q1\td1\t2\tW1\nq1\td2\t0\t\n"
    bring(asked, text)
    before = list(Judgment.objects.values())

    again = factories.done(bring(asked, text, "another name.tsv"))
    # A line without a name is its importer's, and the same bytes are the same lines all the same.
    others = factories.done(bring(asked, text, by=maintainer))

    assert list(Judgment.objects.values()) == before
    assert (again.result["n_labels"], again.result["n_same"]) == (0, 2)
    assert others.result["n_labels"] == 0


def test_grown_file_adds_what_is_new_and_replaces_what_its_rater_changed(asked, bring):
    bring(asked, HEADER + "q1\td1\t2\tW1\nq1\td2\t0\tW1\n")

    job = bring(asked, HEADER + "q1\td1\t2\tW1\nq1\td2\t1\tW1\nq2\td1\t3\tW1\n")

    assert (job.result["n_labels"], job.result["n_same"]) == (2, 1)
    assert labels() == [("q1", "d1", 2, "W1"), ("q1", "d2", 1, "W1"), ("q2", "d1", 3, "W1")]
    assert Judgment.objects.count() == 4


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("q1\td2\t10\tW1", "grade is '10'; expected one of 0, 1, 2, 3"),
        ("q9\td2\t1\tW1", "query 'q9' is not in the benchmark; import its queries first"),
        ("q1\td1\t1\tW1", "query 'q1', document 'd1' has grade 2 of W1 on line 2, and 1 here"),
    ],
)
def test_one_bad_line_and_nothing_is_entered(asked, bring, line, reason):
    job = bring(asked, f"{HEADER}q1\td1\t2\tW1\n{line}\nq2\td1\t0\tW1\n")

    assert job.state == "failed"
    (problem,) = job.problems
    assert (problem["file"], problem["line"]) == ("labels.tsv", 3)
    assert problem["text"].startswith(reason)
    assert not Judgment.objects.exists()


def test_unknown_document_is_refused_where_the_corpus_has_texts(bring):
    tiny = factories.tiny_benchmark()

    job = bring(tiny, "1 0 d-quote 2\n1 0 nowhere 1\n")

    (problem,) = job.problems
    assert (problem["line"], problem["text"]) == (
        2,
        "document 'nowhere' is not in the corpus; correct the id, or drop the line",
    )
    assert not Judgment.objects.exists()


def test_a_file_of_too_many_is_refused_whole(asked, bring, monkeypatch):
    monkeypatch.setattr(importing_labels, "MOST_LABELS", 1)

    job = bring(asked, "q1 0 d1 2\nq1 0 d2 2\n")

    assert "holds more than 1 labels; split it" in job.error
    assert not Judgment.objects.exists()
    factories.done(bring(asked, "q1 0 d1 2\n"))


def places(made) -> list[tuple]:
    """(document, state, account, rater) of each label that a pool wants."""
    slots = made.slots.order_by("entry__document__docid", "number")
    fields = ("entry__document__docid", "state", "annotator__username", "rater")
    return list(slots.values_list(*fields))


def test_each_rater_of_a_file_fills_a_place_and_the_rest_is_extra(benchmark, bring):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)
    raters = "q1\td1\t2\tW1\nq1\td1\t3\tW2\nq1\td1\t0\tW3\nq1\td2\t1\tW1\nq1\td7\t1\tW1\n"

    job = factories.done(bring(benchmark, HEADER + raters, pool=small_pool))

    assert places(small_pool) == [
        ("d1", "done", None, "W1"),
        ("d1", "done", None, "W2"),
        ("d2", "done", None, "W1"),
        ("d2", "free", None, ""),
    ]
    extra = Judgment.objects.get(is_surplus=True)
    assert (extra.rater, extra.slot, extra.pool, extra.purpose) == ("W3", None, small_pool, "label")
    assert job.result["notes"] == [
        "1 are of pairs the pool does not hold",
        "1 are extra: their documents have as many labels as are wanted",
    ]


def test_rater_who_is_an_account_is_not_asked_for_their_labels_again(benchmark, bring, owner, ada):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)

    job = bring(
        benchmark,
        HEADER + "q1\td1\t2\tW1\nq1\td1\t3\tada\nq1\td2\t1\tW1\n",
        pool=small_pool,
        accounts={"W1": "olga"},
    )

    assert places(small_pool)[:3] == [
        ("d1", "done", "olga", ""),
        ("d1", "done", "ada", ""),
        ("d2", "done", "olga", ""),
    ]
    ours, of_ada, _ = Judgment.objects.order_by("pk")
    assert (ours.actor, ours.rater, ours.entered_by) == (owner, "", None)
    assert (of_ada.actor, of_ada.rater, of_ada.entered_by) == (ada, "", owner)
    assert factories.done(job).result["notes"] == [
        "rater 'W1' is the account 'olga'",
        "rater 'ada' is the account 'ada'",
    ]
    assert docids_for(small_pool, ada) == {"d2"}
    assert docids_for(small_pool, owner) == set()


def docids_for(made, person) -> set[str]:
    return set(
        claimable_by(person).filter(pool=made).values_list("entry__document__docid", flat=True)
    )


def test_account_of_the_same_name_may_be_somebody_else(benchmark, bring, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)

    bring(benchmark, HEADER + "q1\td1\t2\tada\n", pool=small_pool, accounts={"ada": ""})

    assert places(small_pool)[0] == ("d1", "done", None, "ada")
    assert docids_for(small_pool, ada) == {"d1"}


def test_who_imported_others_labels_may_judge_the_same_documents(benchmark, bring, owner):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=3)
    bring(benchmark, HEADER + "q1\td1\t2\tW1\nq1\td1\t2\tW2\n", pool=small_pool)

    assert docids_for(small_pool, owner) == {"d1"}


@pytest.mark.parametrize(
    ("name", "holder", "state"), [("ada", "ada", "claimed"), ("", "olga", "aside")]
)
def test_document_in_hand_is_filled_by_its_holders_own_label(
    benchmark, bring, ada, owner, name, holder, state
):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    small_pool.slots.filter(number=2).update(
        state=state,
        annotator={"ada": ada, "olga": owner}[holder],
        lease_expires_at=timezone.now() + timedelta(hours=1),
    )

    bring(benchmark, HEADER + f"q1\td1\t2\t{name}\nq1\td1\t1\tW1\n", pool=small_pool)

    assert places(small_pool) == [("d1", "done", None, "W1"), ("d1", "done", holder, "")]


def test_document_that_is_to_be_judged_again_waits_on_beside_a_file(benchmark, bring, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    label = judge(small_pool.slots.get(), ada, 3)
    again = label.slot.entry.slots.create(
        pool=small_pool, query=label.query, kind="rejudge", round=2, queue_position=9
    )

    job = factories.done(bring(benchmark, HEADER + "q1\td1\t2\tW1\n", pool=small_pool))

    again.refresh_from_db()
    assert (again.state, job.result["n_extra"]) == ("free", 1)


def test_what_somebody_judged_here_stays_as_it_is(benchmark, bring, ada, owner):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    slot = small_pool.slots.get(number=1)
    judge(slot, ada, 3)

    job = factories.done(bring(benchmark, HEADER + "q1\td1\t0\tada\n", pool=small_pool))

    assert labels() == [("q1", "d1", 3, "")]
    assert job.result["notes"][0] == ("1 are left out: whose they are judged these documents here")


def test_who_imports_their_own_labels_replaces_what_they_judged_here(benchmark, bring, owner):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    first = judge(small_pool.slots.get(), owner, 3)

    factories.done(bring(benchmark, "q1 0 d1 1\n", "own.qrels", pool=small_pool))

    label = Judgment.objects.current().get()
    assert (label.kind, label.grade, label.supersedes) == ("import", 1, first)
    assert (label.slot, label.is_surplus) == (first.slot, False)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "adjudicate", "outcome": "override", "grade": 3},
        {"kind": "grade", "purpose": "gold", "grade": 3},
    ],
    ids=["settled", "check"],
)
def test_what_the_importer_settled_or_gave_as_a_check_is_no_label_to_replace(
    asked, bring, owner, fields
):
    stays = Judgment.objects.create(
        benchmark=asked, query=asked.queries.get(qid="q1"), docid="d1", actor=owner,
        client_id=uuid.uuid4(), **fields,
    )  # fmt: skip

    factories.done(bring(asked, "q1 0 d1 1\n", "own.qrels"))

    assert set(Judgment.objects.current()) == {stays, Judgment.objects.get(kind="import")}


def test_label_that_was_taken_back_here_comes_from_a_file(benchmark, bring, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    judge(small_pool.slots.get(), ada, 3)
    undo_last(pool=small_pool, actor=ada, client_id=uuid.uuid4())

    factories.done(bring(benchmark, HEADER + "q1\td1\t1\tada\n", pool=small_pool))

    assert labels() == [("q1", "d1", 1, "")]
    assert places(small_pool) == [("d1", "done", "ada", "")]


def test_free_place_is_filled_before_one_whose_lease_ran_out(benchmark, bring, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    small_pool.slots.filter(number=1).update(
        state="claimed", annotator=ada, lease_expires_at=timezone.now()
    )

    bring(benchmark, HEADER + "q1\td1\t2\tW1\n", pool=small_pool)

    assert places(small_pool) == [("d1", "claimed", "ada", ""), ("d1", "done", None, "W1")]


def test_place_whose_lease_ran_out_is_filled_once(benchmark, bring, ada):
    """Ada's place goes to W1, whose line comes first; her own label is an extra one then."""
    small_pool = pool(benchmark, {"q1": ["d1"]})
    small_pool.slots.update(state="claimed", annotator=ada, lease_expires_at=timezone.now())

    job = bring(benchmark, HEADER + "q1\td1\t2\tW1\nq1\td1\t0\tada\n", pool=small_pool)

    factories.done(job)
    extra = dict(Judgment.objects.values_list("grade", "is_surplus"))
    assert extra == {2: False, 0: True}
    slot = small_pool.slots.get()
    assert (slot.state, slot.rater, slot.annotator) == ("done", "W1", None)


@pytest.mark.parametrize("line", ["", "q1\td7\t1\tW1\n"])
def test_labels_that_are_here_fill_the_places_of_a_further_pool(benchmark, bring, line):
    first, second = (pool(benchmark, {"q1": ["d1"]}) for _ in range(2))
    text = HEADER + "q1\td1\t2\tW1\n"

    done = [
        factories.done(bring(benchmark, text + grown, pool=into))
        for into, grown in [(None, ""), (first, line), (second, ""), (second, ""), (None, "")]
    ]

    assert [job.result["n_labels"] for job in done] == [1, 1, 1, 0, 0]
    assert places(first) == places(second) == [("d1", "done", None, "W1")]
    assert [label.pool for label in Judgment.objects.current()] == [second]


def test_label_that_comes_back_to_a_pool_has_its_place_there(benchmark, bring):
    first, second = (pool(benchmark, {"q1": ["d1"]}, overlap=2) for _ in range(2))
    for into in (first, second):
        bring(benchmark, HEADER + "q1\td1\t2\tW1\n", pool=into)

    job = factories.done(bring(benchmark, HEADER + "q1\td1\t3\tW1\n", pool=first))

    assert (job.result["n_labels"], job.result["n_extra"]) == (1, 0)
    assert Judgment.objects.current().get().slot == first.slots.get(number=1)
    assert places(first) == [("d1", "done", None, "W1"), ("d1", "free", None, "")]


def test_extra_label_that_its_own_rater_replaces_leaves_the_place_to_whose_it_is(
    benchmark, bring, ada, owner
):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    judge(small_pool.slots.get(), ada, 3)
    extra = judge(small_pool.slots.get(), owner, 2)

    factories.done(bring(benchmark, "q1 0 d1 1\n", "own.qrels", pool=small_pool))

    assert Judgment.objects.get(kind="import").supersedes == extra
    assert places(small_pool) == [("d1", "done", "ada", "")]


def test_rater_who_becomes_an_account_that_has_the_document_in_hand_gives_up_a_place(
    benchmark, bring, ada
):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    text = HEADER + "q1\td1\t2\tW1\n"
    bring(benchmark, text, pool=small_pool)
    small_pool.slots.filter(number=2).update(
        state="claimed", annotator=ada, lease_expires_at=timezone.now() + timedelta(hours=1)
    )

    factories.done(bring(benchmark, text, pool=small_pool, accounts={"W1": "ada"}))

    assert places(small_pool) == [("d1", "free", None, ""), ("d1", "done", "ada", "")]


def test_rater_becomes_an_account_when_the_same_file_says_so(benchmark, bring, ada):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    text = HEADER + "q1\td1\t2\tW1\n"
    bring(benchmark, text, pool=small_pool)

    bring(benchmark, text, pool=small_pool, accounts={"W1": "ada"})
    again = bring(benchmark, text, pool=small_pool, accounts={"W1": "ada"})

    assert places(small_pool) == [("d1", "done", "ada", ""), ("d1", "free", None, "")]
    assert Judgment.objects.current().get().actor == ada
    assert (again.result["n_labels"], again.result["n_same"]) == (0, 1)


def test_extra_label_takes_a_place_that_has_come_free_when_its_file_comes_again(benchmark, bring):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    text = HEADER + "q1\td1\t2\tW1\nq1\td1\t3\tW2\n"
    small_pool.slots.filter(number=2).update(state="waived")
    bring(benchmark, text, pool=small_pool)
    small_pool.slots.filter(number=2).update(state="free")

    job = bring(benchmark, text, pool=small_pool)

    assert (job.result["n_labels"], job.result["n_same"]) == (1, 1)
    assert [place[3] for place in places(small_pool)] == ["W1", "W2"]
    assert not Judgment.objects.current().filter(is_surplus=True).exists()


def test_line_that_its_rater_has_replaced_takes_no_place(benchmark, bring):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    text = HEADER + "q1\td1\t2\tW1\nq1\td1\t3\tW2\n"
    small_pool.slots.update(state="waived")
    bring(benchmark, text, pool=small_pool)
    bring(benchmark, HEADER + "q1\td1\t1\tW1\n", pool=small_pool)
    small_pool.slots.update(state="free")

    bring(benchmark, text, pool=small_pool)

    assert places(small_pool) == [("d1", "done", None, "W2")]


def test_places_filled_before_the_upgrade_become_their_raters_and_back(benchmark, bring, owner):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)
    bring(benchmark, HEADER + "q1\td1\t2\tW1\nq1\td2\t2\tW1\nq1\td2\t2\tW2\n", pool=small_pool)
    before = places(small_pool)
    moves = import_module("annotation.migrations.0005_places_of_raters")

    moves.name_importers(apps, None)
    then = places(small_pool)
    moves.name_raters(apps, None)

    assert [(state, who) for _, state, who, _ in then] == [
        ("done", "olga"),
        ("free", None),
        ("done", "olga"),
        ("free", None),
    ]
    assert places(small_pool) == [before[0], before[1], before[2], ("d2", "free", None, "")]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"accounts": {"W9": "ada"}}, "The file names no rater 'W9'; it names W1, W2"),
        ({"accounts": {"W1": "nobody"}}, "nobody of that name belongs to the benchmark"),
        ({"accounts": {"W1": "ada", "W2": "ada"}}, "W1 and W2 would all be 'ada'"),
        ({"accounts": {"W1": "ada"}, "machines": ["W1"]}, "cannot be 'ada' and a machine"),
    ],
)
def test_raters_who_cannot_be_whom_they_are_said_to_be_are_refused(
    asked, ada, bring, words, reason
):
    job = bring(asked, HEADER + "q1\td1\t2\tW1\nq1\td1\t2\tW2\n", **words)

    assert job.state == "failed"
    assert reason in job.error
    assert not Judgment.objects.exists()


def test_machines_labels_are_kept_apart_and_fill_no_place(benchmark, bring, owner):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)

    job = bring(benchmark, HEADER + "q1\td1\t2\tgpt-4o\nq1\td1\t3\tW1\n", pool=small_pool)

    assert [place[3] for place in places(small_pool)] == ["W1", ""]
    machine = Judgment.machines.get(rater="gpt-4o")
    assert (machine.kind, machine.slot, machine.is_surplus) == ("machine", None, False)
    assert "rater 'gpt-4o' is a machine" in factories.done(job).result["notes"]
    arguments = publishing_arguments(benchmark=benchmark, name="ours", rule=DEFAULT_RULE.name)
    factories.done(jobs.run_here(benchmark=benchmark, user=owner, **arguments))
    assert Qrel.objects.get().grade == 3


@pytest.mark.parametrize("is_for_pool", [True, False])
def test_labels_that_turn_out_a_machines_give_up_their_places(benchmark, bring, owner, is_for_pool):
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    text = HEADER + "q1\td1\t0\tjudge7\nq1\td1\t3\tW1\n"
    bring(benchmark, text, pool=small_pool)

    bring(benchmark, text, pool=small_pool if is_for_pool else None, machines=["judge7"])

    assert sorted(place[3] for place in places(small_pool)) == ["", "W1"]
    arguments = publishing_arguments(benchmark=benchmark, name="ours", rule=DEFAULT_RULE.name)
    factories.done(jobs.run_here(benchmark=benchmark, user=owner, **arguments))
    assert Qrel.objects.get().grade == 3


def test_corrected_label_keeps_its_place_in_the_pool(benchmark, bring):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    bring(benchmark, HEADER + "q1\td1\t2\tW1\n", pool=small_pool)

    bring(benchmark, HEADER + "q1\td1\t3\tW1\n", pool=small_pool)

    old, new = Judgment.events.order_by("pk")
    assert (new.supersedes, new.slot, new.is_surplus) == (old, old.slot, False)
    assert new.slot.state == "done"


def test_raters_of_a_file_count_one_by_one_in_qrels(asked, bring, owner):
    bring(asked, HEADER + "q1\td1\t0\tW1\nq1\td1\t3\tW2\nq1\td1\t3\tW3\n")

    arguments = publishing_arguments(benchmark=asked, name="ours", rule=DEFAULT_RULE.name)
    factories.done(jobs.run_here(benchmark=asked, user=owner, **arguments))

    assert Qrel.objects.get().grade == 3


def test_command_takes_qrels_of_a_named_rater_without_a_pool(asked, tmp_path):
    path = tmp_path / "expert.qrels"
    path.write_text("q1 0 d1 4\n")
    out = StringIO()

    call_command("import_judgments", "stdlib", path, rater="Eve", grade_map="4=3", stdout=out)

    assert labels() == [("q1", "d1", 3, "Eve")]
    assert out.getvalue() == "entered 1 grade of 1 query\n"


def test_command_takes_accounts_and_machines(asked, ada, tmp_path):
    path = tmp_path / "labels.tsv"
    path.write_text(HEADER + "q1\td1\t2\tW1\nq1\td1\t3\tW2\nq1\td1\t3\tgpt-4o\n")
    out = StringIO()

    call_command("import_judgments", "stdlib", path, account=["W1=ada"], machine=["W2"], stdout=out)

    kinds = Judgment.events.order_by("pk").values_list("kind", "actor__username", "rater")
    assert list(kinds) == [
        ("import", "ada", ""),
        ("machine", "olga", "W2"),
        ("import", "olga", "gpt-4o"),
    ]
    assert "rater 'W1' is the account 'ada'\nrater 'W2' is a machine" in out.getvalue()
    with pytest.raises(CommandError, match="write RATER=USERNAME"):
        call_command("import_judgments", "stdlib", path, account=["W1"])
    with pytest.raises(CommandError, match="not both"):
        call_command("import_judgments", "stdlib", path, machine=["W1"], no_machine=True)


def test_command_tells_every_bad_line(asked, tmp_path):
    path = tmp_path / "bad.qrels"
    path.write_text("q1 0 d1 7\nq9 0 d1 1\n")

    with pytest.raises(CommandError, match=r"bad\.qrels:1: grade is '7'.*\n.*bad\.qrels:2: query"):
        call_command("import_judgments", "stdlib", path)


def test_label_of_a_document_in_no_pool_is_held_against_the_corpus(bring):
    tiny = factories.tiny_benchmark()
    texts = benchmark_documents(tiny, ["d-tab", "d-quote"])
    digest = hashlib.sha256(f"{texts['d-tab'].title}\n{texts['d-tab'].text}".encode()).hexdigest()
    header = "query-id\tcorpus-id\tgrade\ttext-hash\n"

    # The whole digest says as much as its first digits.
    job = bring(tiny, f"{header}1\td-tab\t2\t{digest.upper()}\n1\td-quote\t1\tother\n")

    assert factories.done(job).result["n_stale"] == 1
    read = dict(Judgment.objects.values_list("docid", "content_hash"))
    assert read == {"d-tab": texts["d-tab"].content_hash, "d-quote": "other"}


def test_label_for_an_earlier_text_is_good_again_when_that_comes_back(benchmark, bring):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    first = DocumentContent.objects.get()
    first.document.contents.create(content_hash="new", text="Another")
    short = text_hash(first.title, first.text)
    text = f"query-id\tcorpus-id\tgrade\ttext-hash\nq1\td1\t2\t{short}\n"

    job = bring(benchmark, text, pool=small_pool)

    assert job.result["n_stale"] == stale_labels(small_pool).count() == 1
    DocumentContent.objects.filter(pk=first.pk).update(first_seen=timezone.now())
    assert stale_labels(small_pool).count() == 0


@pytest.mark.data
def test_real_label_sets_are_raters_each_and_the_label_off_the_scale_is_found(
    data, benchmark, bring
):
    folder = data / "annotations_llmjudge" / "labels"
    text = {
        name: (folder / f"{name}.qrels").read_text()
        for name in ("Olz-exp", "RMITIR-GPT4o", "h2oloo-zeroshot2")
    }
    rows = [line.split() for line in text["Olz-exp"].splitlines()]
    for qid in sorted({row[0] for row in rows}):
        factories.query(benchmark, qid)

    *good, bad = (bring(benchmark, text[name], f"{name}.qrels", rater=name) for name in text)

    assert [(job.state, job.result["n_labels"]) for job in good] == [("done", 4423)] * 2
    (problem,) = bad.problems
    assert (bad.state, problem["line"]) == ("failed", 3187)
    assert problem["text"].startswith("grade is '10'; expected one of 0, 1, 2, 3.")
    by_rater = Judgment.events.values_list("rater").annotate(n=Count("pk")).order_by("rater")
    assert list(by_rater) == [("Olz-exp", 4423), ("RMITIR-GPT4o", 4423)]
    again = bring(benchmark, text["Olz-exp"], "again.qrels", rater="Olz-exp")
    assert (again.result["n_labels"], again.result["n_same"]) == (0, 4423)


@pytest.mark.data
def test_real_crowd_is_read_with_its_workers(data, benchmark, owner, bring):
    path = data / "annotations_nyt_crowd" / "crowd_3p_doc_nohigh.tsv"
    for qid in sorted({line.split("\t")[1] for line in path.read_text().splitlines()[1:]}):
        factories.query(benchmark, qid)

    job = factories.done(bring(benchmark, path.read_text(), path.name))

    assert job.result["n_labels"] == 1800
    assert Judgment.events.values("rater").distinct().count() == 53
    assert Judgment.events.values("query", "docid").distinct().count() == 120


def test_labels_for_a_pool_may_name_what_the_benchmark_lacks(benchmark, bring):
    small_pool = pool(benchmark, {"q1": ["d1"]})

    job = factories.done(bring(benchmark, "q1 0 d1 2\nq9 0 d1 1\nq1 0 gone 1\n", pool=small_pool))

    assert (job.result["n_labels"], job.result["n_outside"]) == (1, 2)


@pytest.mark.data
def test_real_crowd_fills_as_many_places_as_it_has_workers(data, benchmark, bring):
    rows = (data / "annotations_nyt_crowd" / "crowd_3p_doc_nohigh.tsv").read_text()
    pairs = {}
    for line in rows.splitlines()[1:]:
        _, qid, docid, *_ = line.split("\t")
        pairs.setdefault(qid, {})[docid] = None
    small_pool = pool(benchmark, {qid: list(of) for qid, of in pairs.items()}, overlap=2)

    job = factories.done(bring(benchmark, rows, "crowd.tsv", pool=small_pool))

    assert small_pool.slots.filter(state="done").count() == small_pool.slots.count() == 240
    assert (job.result["n_labels"], job.result["n_extra"]) == (1800, 1560)
