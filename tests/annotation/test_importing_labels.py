"""Labels given elsewhere become events that say where they are from: all of a file, or none."""

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Count

from annotation.core.rules import DEFAULT_RULE
from annotation.models import Judgment
from annotation.services import importing_labels
from annotation.services.importing_labels import labels_arguments
from annotation.services.publishing import publishing_arguments
from benchmarks_app.models import AuditEvent, Qrel
from benchmarks_app.services import jobs, uploading
from tests import factories
from tests.annotation.making import pool

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
    rows = Judgment.objects.current().order_by("pk")
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
    factories.done(bring(asked, "q1 0 d1 2\n", "gpt.qrels", rater="GPT-4o", source="LLMJudge"))

    assert labels() == [("q1", "d1", 2, "GPT-4o")]
    assert Judgment.objects.get().source.startswith("LLMJudge sha256:")


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


def test_labels_for_a_pool_fill_what_is_wanted_and_the_rest_is_extra(benchmark, bring, owner, ada):
    made = pool(benchmark, {"q1": ["d1", "d2"]}, overlap=2)

    job = bring(benchmark, HEADER + "q1\td1\t2\tW1\nq1\td1\t3\tW2\nq1\td7\t1\tW1\n", pool=made)

    first, second = Judgment.objects.order_by("pk")
    assert (first.slot.state, first.slot.annotator, first.is_surplus) == ("done", owner, False)
    assert (second.slot, second.is_surplus, second.pool) == (None, True, made)
    assert made.slots.filter(state="done").count() == 1
    assert job.result["notes"] == ["1 are of pairs the pool does not hold"]


def test_corrected_label_keeps_its_place_in_the_pool(benchmark, bring):
    made = pool(benchmark, {"q1": ["d1"]})
    bring(benchmark, HEADER + "q1\td1\t2\tW1\n", pool=made)

    bring(benchmark, HEADER + "q1\td1\t3\tW1\n", pool=made)

    old, new = Judgment.objects.order_by("pk")
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
    assert out.getvalue() == "entered 1 grades of 1 queries\n"


def test_command_tells_every_bad_line(asked, tmp_path):
    path = tmp_path / "bad.qrels"
    path.write_text("q1 0 d1 7\nq9 0 d1 1\n")

    with pytest.raises(CommandError, match=r"bad\.qrels:1: grade is '7'.*\n.*bad\.qrels:2: query"):
        call_command("import_judgments", "stdlib", path)


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
    by_rater = Judgment.objects.values_list("rater").annotate(n=Count("pk")).order_by("rater")
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
    assert Judgment.objects.values("rater").distinct().count() == 53
    assert Judgment.objects.values("query", "docid").distinct().count() == 120


def test_labels_for_a_pool_may_name_what_the_benchmark_lacks(benchmark, bring):
    made = pool(benchmark, {"q1": ["d1"]})

    job = factories.done(bring(benchmark, "q1 0 d1 2\nq9 0 d1 1\nq1 0 gone 1\n", pool=made))

    assert (job.result["n_labels"], job.result["n_outside"]) == (1, 2)
