"""A snapshot of a corpus: proposed with what it changes, taken or discarded, cut, of one kind."""

import io
import json
import zipfile

import pytest
from django.core.files.storage import default_storage
from django.test import TestCase
from django.urls import reverse

from annotation.models import Judgment
from benchmarks_app.collections.services.snapshots import discard_snapshot, take_snapshot
from benchmarks_app.common.selectors.reading import benchmark_documents, unknown_documents
from benchmarks_app.importing.services.importing_corpus import corpus_options
from benchmarks_app.models import AuditEvent, CorpusVersion, Job, Run
from benchwright.corpora.cuts import CutError
from benchwright.corpora.errors import SnapshotDateError, SnapshotOverError
from tests import factories
from tests.annotation.making import judge

pytestmark = pytest.mark.django_db


def corpus(**texts: str) -> bytes:
    rows = ({"_id": docid, "title": "", "text": text} for docid, text in texts.items())
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def bring(texts, name="new.jsonl", options=None, **fields: str) -> Job:
    return factories.imported(texts, corpus(**fields), name, corpus=options or {})


@pytest.fixture
def texts():
    bench = factories.texts_benchmark("changing")
    factories.done(bring(bench, "first.jsonl", d1="one", d2="two", d3="three"))
    return bench


@pytest.fixture
def judged(texts):
    """d1 and d2 are pooled and labelled, d2 and d3 have grades in a set of qrels."""
    factories.query(texts, "q1")
    pool = factories.depth_pool(texts, [factories.run(texts, "q1 Q0 d1 1 2 s\nq1 Q0 d2 2 1 s")])
    ada = factories.member(texts, "ada", "annotator")
    for slot in pool.slots.all():
        judge(slot, ada, 1)
    factories.qrel_set(texts, {("q1", "d2"): 1, ("q1", "d3"): 2})
    return texts


def proposed(texts) -> CorpusVersion:
    return texts.corpus.versions.get(state="proposed")


def test_the_first_corpus_is_there_at_once(texts):
    assert texts.current_corpus_version.number == 1


def test_a_second_one_is_proposed_and_nothing_reads_it_yet(judged):
    job = factories.done(bring(judged, d1="other", d3="three", d4="four"))

    assert judged.current_corpus_version.number == 1
    assert benchmark_documents(judged, ["d1"])["d1"].text == "one"
    assert job.result["made"] == ["corpus version 2 of 3 documents, proposed"]
    assert job.result_url == f"/b/{judged.slug}/corpus/versions/2/"


def test_a_proposal_says_what_changes_and_which_labels_it_touches(judged):
    factories.done(bring(judged, d1="other", d3="three", d4="four"))

    change = proposed(judged).difference

    counts = {name: change[name] for name in ("base", "added", "changed", "removed", "unchanged")}
    assert counts == {"base": 1, "added": 1, "changed": 1, "removed": 1, "unchanged": 1}
    assert change["labels"] == [
        {
            "benchmark": judged.pk,
            "labels_moved": 1,
            "labels_gone": 1,
            "qrels_moved": 0,
            "qrels_gone": 1,
            "examples": ["d2"],
        }
    ]


def test_every_benchmark_on_the_corpus_is_named(judged):
    other = factories.benchmark("beside", corpus=judged.corpus)
    factories.qrel_set(other, {("q9", "d1"): 1})

    factories.done(bring(judged, d1="other", d2="two", d3="three"))

    touched = {
        label["benchmark"]: label["qrels_moved"] for label in proposed(judged).difference["labels"]
    }
    assert touched == {judged.pk: 0, other.pk: 1}


def test_documents_that_are_graded_are_named_to_who_keeps_the_benchmark(judged, signed_in):
    """Not to who keeps another one on its corpus: of hidden splits even that is not told."""
    judged.visibility = "public"
    judged.save()
    other = factories.benchmark("beside", corpus=judged.corpus)
    cy, olga = factories.member(other, "cy", "owner"), factories.member(judged, "olga", "owner")
    factories.done(bring(judged, d1="one", d2="other", d3="three"))

    def told(person, of):
        client = signed_in(person)
        page = client.get(reverse("corpus-version", args=[of.slug, 2])).context["at_stake"]
        return {row["benchmark"].slug: row["examples"] for row in page if row["benchmark"]}

    assert told(olga, judged) == {"changing": ["d2"]}
    assert told(cy, other) == {"changing": [], "beside": []}


def test_taking_it_makes_it_the_corpus_of_every_benchmark_and_lets_texts_follow(judged, do_jobs):
    other = factories.benchmark("beside", corpus=judged.corpus)
    factories.done(bring(judged, d1="other", d2="two"))

    take_snapshot(version=proposed(judged), benchmark=judged, actor=factories.user("keeper"))
    (job,) = do_jobs()

    assert other.current_corpus_version.number == judged.current_corpus_version.number == 2
    assert job.result["made"] == ["1 of 2 pooled documents changed"]
    taken = AuditEvent.objects.filter(action="take-snapshot")
    assert {event.benchmark for event in taken} == {judged, other}
    assert Judgment.objects.count() == 2  # a stale label stays


def test_discarding_it_leaves_the_corpus_and_lets_the_file_come_again(texts):
    factories.done(bring(texts, d1="other"))
    version = proposed(texts)

    with TestCase.captureOnCommitCallbacks(execute=True):
        discard_snapshot(version=version, benchmark=texts, actor=factories.user("keeper"))

    assert not default_storage.exists(version.parquet)
    assert [version.number for version in texts.corpus.versions.all()] == [1]
    assert factories.done(bring(texts, d1="other")).result["made"][0].startswith("corpus version 2")


def test_a_second_proposal_waits_for_the_decision_on_the_first(texts):
    factories.done(bring(texts, d1="other"))

    job = bring(texts, "third.jsonl", d1="third")

    assert job.state == Job.State.FAILED
    assert job.error == (
        "Version 2 of the corpus is proposed and not decided. Take or discard it on the corpus "
        "page, then import this one."
    )


def test_what_is_decided_cannot_be_decided_again(texts):
    factories.done(bring(texts, d1="other"))
    version, keeper = proposed(texts), factories.user("keeper")
    take_snapshot(version=version, benchmark=texts, actor=keeper)

    for decide, what in ((take_snapshot, "taken"), (discard_snapshot, "discarded")):
        with pytest.raises(SnapshotOverError, match=f"cannot be {what}: it has been taken already"):
            decide(version=version, benchmark=texts, actor=keeper)


def test_who_says_so_takes_it_at_once(texts):
    job = factories.done(bring(texts, options={"take": True}, d1="other"))

    assert texts.current_corpus_version.number == 2
    assert texts.current_corpus_version.difference["removed"] == 2
    assert job.result["made"] == ["corpus version 2 of 1 document"]


def test_the_same_documents_are_no_new_version(texts):
    job = factories.done(bring(texts, "again.jsonl", d3="three", d2="two", d1="one"))

    assert job.result["made"] == ["corpus version 1 (unchanged)"]


def test_a_list_of_ids_is_no_snapshot_of_texts(texts):
    job = factories.imported(texts, b"d1\nd2\n", "ids.txt", "ids")

    assert job.error == (
        "ids.txt lists ids without texts, but version 1 of the corpus has texts, which would be "
        "lost. Import the documents themselves, or make a benchmark of ids only."
    )
    assert texts.corpus.versions.count() == 1


def test_a_snapshot_keeps_the_date_it_is_given(texts):
    factories.done(bring(texts, options={"snapshot_date": "2026-03-31"}, d1="other"))

    assert str(proposed(texts).snapshot_date) == "2026-03-31"
    with pytest.raises(SnapshotDateError, match="'March' is not a date"):
        corpus_options(snapshot_date="March")


# --- cuts ----------------------------------------------------------------------------------------


def test_a_cut_keeps_what_is_judged_pooled_or_graded_and_says_so(judged):
    many = {f"x{n}": "more" for n in range(100)}
    options = {"max_docs": 10, "seed": 3, "take": True}

    job = factories.done(bring(judged, options=options, d1="one", d2="two", d3="three", **many))

    version = judged.current_corpus_version
    assert version.cut == {"max_docs": 10, "seed": 3, "n": 10, "kept": 3, "of": 103}
    assert not unknown_documents(judged, ["d1", "d2", "d3"])
    text = "Cut to 10 of 103 documents: all 3 judged or pooled ones, the others drawn with seed 3."
    assert text in job.result["notes"]


def test_a_cut_keeps_what_the_qrels_of_the_same_zip_name(texts):
    bench = factories.texts_benchmark("zipped")

    job = factories.done(
        factories.imported(bench, factories.tiny_zip(), "tiny.zip", corpus={"max_docs": "1"})
    )

    graded = set(bench.qrel_sets.get().qrels.values_list("docid", flat=True))
    assert not unknown_documents(bench, graded)
    assert bench.current_corpus_version.cut["kept"] == len(graded)
    assert any(note.startswith("Cut to") for note in job.result["notes"])


def test_a_cut_keeps_what_qrels_name_below_records_that_are_left_out(texts):
    bench = factories.texts_benchmark("lenient")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        rows = [{"_id": f"d{n}", "title": "", "text": f"text {n}"} for n in range(40)]
        archive.writestr("a/corpus.jsonl", "\n".join(map(json.dumps, rows)))
        archive.writestr("a/queries.jsonl", '{"_id": "q1", "text": "what"}')
        grades = "q1\td1\tmany\n" * 150 + "q1\td7\t1\n"
        archive.writestr("a/qrels/test.tsv", f"query-id\tcorpus-id\tscore\n{grades}")
    options = {"corpus": {"max_docs": "1"}, "leave_out": "records"}

    factories.done(factories.imported(bench, content.getvalue(), "a.zip", **options))

    assert unknown_documents(bench, ["d7", "d8"]) == {"d8"}


def test_a_corpus_within_the_size_is_not_called_cut(texts):
    factories.done(bring(texts, options={"max_docs": 9, "take": True}, d1="a", d2="b"))

    assert texts.current_corpus_version.cut == {}


def test_a_size_that_is_none_is_refused_before_anything_is_read(texts):
    with pytest.raises(CutError, match="max_docs is none; expected a whole number from 1"):
        bring(texts, options={"max_docs": "none"}, d1="x")

    assert not Run.objects.exists()
