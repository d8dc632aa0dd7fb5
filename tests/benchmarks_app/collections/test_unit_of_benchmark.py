"""The unit that is measured: documents on a corpus of passages, in runs, grades and settings."""

import io
import json
import zipfile

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks_app.collections.services import uploading
from benchmarks_app.collections.services.benchmarks import create_benchmark
from benchmarks_app.collections.services.runs import stage_run
from benchmarks_app.collections.services.units import change_corpus, derive_document_qrels
from benchmarks_app.common.selectors.reading import (
    benchmark_documents,
    measures_documents_of_passages,
    qrels_of,
    release_qrels,
    run_path,
    unknown_documents,
)
from benchmarks_app.importing.services.reading_uploads import read_through
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Corpus, QrelSet, Run
from benchwright.corpora.errors import (
    MixedUnitsError,
    NotDerivableError,
    OtherUnitError,
    ParentsMissingError,
    UnitTakenError,
    UnknownAggregationError,
    UnknownUnitError,
)
from benchwright.reading.loading import read_run
from benchwright.runs.aggregation import aggregate
from benchwright.runs.store import hits_against, top_k
from scoring.models import ScoreSet
from scoring.submissions.services.phases import open_submissions
from scoring.submissions.services.resending import send_on
from scoring.submissions.services.submitting import accept_submission
from tests import factories

pytestmark = pytest.mark.django_db

# Passages a#0, a#1, a#10, b#0 and c#0 of the documents a, b and c.
PASSAGES = ["a#0", "a#1", "a#10", "b#0", "c#0"]
RUN = """
q1 Q0 b#0 1 5.0 s
q1 Q0 a#10 2 4.0 s
q1 Q0 a#1 3 3.5 s
q1 Q0 c#0 4 3.0 s
q1 Q0 a#0 5 1.0 s
"""


def rows(docids, **more) -> bytes:
    made = ({"_id": docid, "title": "", "text": f"text of {docid}", **more} for docid in docids)
    return "".join(json.dumps(row) + "\n" for row in made).encode()


def on_passages(slug: str, unit: str, parents: str = "ids"):
    corpus = Corpus.objects.create(name=slug, owner=factories.user("keeper"), unit="passage")
    bench = factories.benchmark(slug, corpus=corpus, unit=unit)
    fields = {"parents": parents}
    factories.done(factories.imported(bench, rows(PASSAGES), f"{slug}.jsonl", corpus=fields))
    factories.query(bench, "q1")
    return bench


@pytest.fixture
def documents():
    """A benchmark of documents on a corpus of passages."""
    return on_passages("docs", "document")


@pytest.fixture
def passages():
    return on_passages("passages", "passage")


def stage(of, lines: str, tmp_path, **more):
    results = (line.encode() + b"\n" for line in lines.strip().splitlines())
    known = lambda docids: unknown_documents(of, docids)  # noqa: E731
    return stage_run(
        lines=results,
        file="s.run",
        folder=tmp_path / "run",
        known_document=known,
        benchmark=of,
        **more,
    )


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("maxp", ["b", "a", "c"]),  # 5, 4, 3
        ("firstp", ["b", "c", "a"]),  # 5, 3, 1: a#0 comes before a#10
        ("sump", ["a", "b", "c"]),  # 4 + 3.5 + 1, 5, 3
        ("rrf", ["a", "b", "c"]),  # 1/62 + 1/63 + 1/65, 1/61, 1/64
    ],
)
def test_a_run_of_passages_becomes_one_of_documents(documents, tmp_path, how, expected):
    staged = stage(documents, RUN, tmp_path, aggregation=how)

    assert [row.docid for row in top_k(staged.summary.parquet, 10)] == expected
    assert (staged.summary.n_rows, staged.summary.depth) == (3, 3)
    assert staged.metadata == {"aggregation": how, "passages": 5, "passage_depth": 5}


@pytest.mark.parametrize("how", ["maxp", "sump", "rrf"])
def test_it_is_the_run_that_the_command_line_makes_of_it(documents, tmp_path, how):
    path = tmp_path / "s.run"
    path.write_text(RUN.strip() + "\n")
    offline = aggregate(read_run(path), None, how, file="s.run")[b"q1"]

    staged = stage(documents, RUN, tmp_path, aggregation=how)

    ours = [row.docid for row in top_k(staged.summary.parquet, 10)]
    assert ours == [d.docid.decode() for d in sorted(offline, key=lambda d: -d.score)]


def test_an_imported_run_says_how_it_was_summed_up(documents):
    factories.done(factories.imported(documents, RUN.strip().encode() + b"\n", "s.run", "run"))

    run = Run.objects.get(benchmark=documents)
    assert (run.n_rows, run.metadata["aggregation"]) == (3, "maxp")


def test_a_run_of_documents_is_taken_as_it_is(documents, tmp_path):
    staged = stage(documents, "q1 Q0 a 1 2 s\nq1 Q0 c 2 1 s", tmp_path)

    assert [row.docid for row in top_k(staged.summary.parquet, 10)] == ["a", "c"]
    assert staged.metadata == {}


@pytest.mark.parametrize(
    "lines", ["q1 Q0 a#0 1 2 s\nq1 Q0 b 2 1 s", "q1 Q0 b 1 2 s\nq1 Q0 a#0 2 1 s"]
)
def test_a_run_of_both_is_refused_with_one_of_each(documents, tmp_path, lines):
    with pytest.raises(MixedUnitsError, match=r"'a#0' is a passage \(of document 'a'\), 'b' is a"):
        stage(documents, lines, tmp_path)


def with_ten_above(*lines: str) -> str:
    """A run whose first ten are passages of the corpus: only those are looked at beforehand."""
    first = [f"q1 Q0 {docid} 1 {90 - n} s" for n, docid in enumerate(MANY)]
    return "\n".join([*first, *lines])


MANY = [f"a#{n}" for n in range(10)]


@pytest.fixture
def larger():
    corpus = Corpus.objects.create(name="large", owner=factories.user("keeper"), unit="passage")
    bench = factories.benchmark("large", corpus=corpus)
    fields = {"parents": "ids"}
    factories.done(factories.imported(bench, rows([*MANY, "c#0"]), "c.jsonl", corpus=fields))
    return bench


def test_a_document_deep_in_a_run_of_passages_is_found(larger, tmp_path):
    with pytest.raises(MixedUnitsError, match="'c' is a document"):
        stage(larger, with_ten_above("q1 Q0 c 99 0.5 s"), tmp_path)


def test_passages_the_corpus_lacks_are_left_out_and_counted(larger, tmp_path):
    deep = [f"q1 Q0 gone#{n} 99 {0.5 - n / 100} s" for n in range(7)]

    staged = stage(larger, with_ten_above(*deep), tmp_path)

    assert staged.metadata["passages_left_out"] == 7
    assert staged.metadata["a_passage_left_out"] == "gone#0"
    assert staged.summary.n_rows == 1


def test_documents_are_refused_where_passages_are_measured(passages, tmp_path):
    with pytest.raises(OtherUnitError, match=r"of documents, such as 'a', but .* such as 'a#0'"):
        stage(passages, "q1 Q0 a 1 2 s", tmp_path)


def test_an_unknown_way_is_refused_with_those_there_are(documents, tmp_path):
    with pytest.raises(UnknownAggregationError, match=r"'avgp' .* maxp, firstp, sump, rrf"):
        stage(documents, RUN, tmp_path, aggregation="avgp")


def test_a_document_is_read_as_its_passages_in_order(documents):
    result = benchmark_documents(documents, ["a", "b#0", "zzz"])

    assert result["a"].text == "text of a#0\n\ntext of a#1\n\ntext of a#10"
    assert result["b#0"].parent == "b"
    assert unknown_documents(documents, ["a", "a#0"]) == {"a#0"}


def test_a_pool_of_documents_shows_their_whole_texts(documents, tmp_path):
    factories.done(factories.imported(documents, RUN.strip().encode() + b"\n", "s.run", "run"))

    pool = factories.depth_pool(documents, list(documents.runs.all()))

    entry = pool.entries.get(document__docid="a")
    assert entry.document.contents.get().text.startswith("text of a#0\n\ntext of a#1")


# --- a corpus without parents --------------------------------------------------------------------


def test_passages_without_parents_are_refused_for_a_benchmark_of_documents():
    corpus = Corpus.objects.create(name="bare", owner=factories.user("keeper"), unit="passage")
    bench = factories.benchmark("bare", corpus=corpus, unit="document")

    job = factories.imported(bench, rows(PASSAGES), "c.jsonl")

    assert "the passages of the corpus do not name theirs" in job.error
    assert not corpus.versions.exists()


def test_parents_come_from_the_metadata_of_a_corpus_of_passages_alone(benchmark):
    corpus = Corpus.objects.create(name="p", owner=factories.user("keeper"), unit="passage")
    stated = factories.benchmark("stated", corpus=corpus)
    plain = factories.texts_benchmark("plain")
    content = rows(["p1", "p2"], metadata={"parent": "whole"})

    for made in (stated, plain):
        factories.done(factories.imported(made, content, "c.jsonl"))

    assert stated.current_corpus_version.n_parents == 1
    assert plain.current_corpus_version.n_parents == 0


# --- changing the unit ---------------------------------------------------------------------------


def change(of, **more):
    fields = {
        "unit": of.unit,
        "corpus_unit": of.corpus.unit,
        "lang": "en",
        "may_be_passed_on": True,
        **more,
    }
    change_corpus(benchmark=of, actor=factories.user("keeper"), **fields)


def test_the_unit_can_change_while_nothing_is_measured_in_it(passages):
    change(passages, unit="document")

    passages.refresh_from_db()
    assert passages.unit == "document"


@pytest.mark.parametrize(
    ("given", "error", "why"),
    [
        ({"unit": "chapter"}, UnknownUnitError, "Choose one of: passage, document"),
        ({"corpus_unit": "document"}, UnitTakenError, "The corpus cannot .* it has been imported"),
    ],
)
def test_a_unit_that_cannot_be_is_refused(passages, given, error, why):
    with pytest.raises(error, match=why):
        change(passages, **given)


def test_the_unit_stays_once_there_are_runs_or_grades(passages):
    factories.qrel_set(passages, {("q1", "a#0"): 1})

    with pytest.raises(UnitTakenError, match=r"it has qrels already. Make another benchmark on"):
        change(passages, unit="document")


def test_passages_cannot_be_measured_on_a_corpus_of_documents():
    bench = factories.texts_benchmark("plain")

    with pytest.raises(UnitTakenError, match="the rows of its corpus are documents"):
        change(bench, unit="passage")


def test_a_further_benchmark_shares_a_corpus_and_measures_documents(passages):
    keeper, scale = factories.user("keeper"), [{"value": 1, "name": "yes", "is_relevant": True}]

    bench = create_benchmark(
        owner=keeper, name="By document", slug="by", scale=scale, corpus_of=passages
    )

    assert bench.corpus == passages.corpus
    assert measures_documents_of_passages(bench)


def test_a_corpus_whose_passages_name_no_document_is_not_shared_for_documents():
    bare = on_passages("bare", "passage", parents="stated")

    with pytest.raises(ParentsMissingError, match="Benchmark 'By document' is of documents"):
        create_benchmark(
            owner=factories.user("keeper"), name="By document", slug="by", scale=[], corpus_of=bare
        )


# --- grades --------------------------------------------------------------------------------------


def derive(of, qrel_set, **more) -> QrelSet:
    keeper = factories.user("keeper")
    return derive_document_qrels(benchmark=of, qrel_set=qrel_set, actor=keeper, **more)


def test_a_document_has_the_highest_grade_of_its_passages(documents):
    graded = {("q1", "a#0"): 1, ("q1", "a#10"): 3, ("q1", "b#0"): 0, ("q2", "a#1"): 2}
    qrels = factories.qrel_set(documents, graded, "passages")

    derived = derive(documents, qrels)

    assert list(qrels_of(derived)) == [("q1", "a", 3), ("q1", "b", 0), ("q2", "a", 2)]
    assert derived.name == "passages by document"
    assert (derived.n_qrels, derived.n_relevant, derived.n_queries) == (3, 2, 2)
    assert derived.rule == "max-passage"
    assert derived.parameters["derived_from"] == "passages"
    assert all(derived.qrels.values_list("is_derived", flat=True))


def test_passages_that_grades_and_runs_name_are_in_the_corpus(documents):
    graded = factories.imported(documents, b"q1 0 a#0 1\nq1 0 b 1\nq1 0 x#9 1\n", "some.qrels")
    together = factories.texts_benchmark("together", unit="document")
    Corpus.objects.filter(pk=together.corpus_id).update(unit="passage")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("a/corpus.jsonl", rows(["p1", "p2"], metadata={"parent_id": "d"}))
        archive.writestr("a/queries.jsonl", '{"_id": "q1", "text": "what"}')
        archive.writestr("a/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\tp1\t1\n")
    waiting = factories.waiting_upload(documents, "bm25.run", RUN.strip().encode())
    read_through(waiting, is_job=True)

    collection = factories.imported(
        Benchmark.objects.get(slug="together"), content.getvalue(), "a.zip"
    )

    notes = " ".join(factories.done(graded).result["notes"])
    assert "1 of 3 graded documents is not in the corpus, such as 'x#9'" in notes
    assert "not in the corpus" not in " ".join(factories.done(collection).result["notes"])
    unknown = waiting.reading["unknown"]
    assert (unknown["n_documents"], unknown["of_documents"]) == (0, 5)


def test_grades_of_another_benchmark_on_the_corpus_are_derived_from(passages):
    other = factories.benchmark("by", corpus=passages.corpus, unit="document")
    factories.query(other, "q1")
    qrels = factories.qrel_set(passages, {("q1", "c#0"): 2}, "o" * 120)

    derived = derive(other, qrels)

    assert list(qrels_of(derived)) == [("q1", "c", 2)]
    assert derived.name == f"{'o' * 108} by document"  # as long as a name may be


@pytest.mark.parametrize(
    ("graded", "error", "why"),
    [
        ({("q1", "a#0"): 1, ("q1", "b"): 2}, MixedUnitsError, "'b' is a document"),
        ({("q1", "b"): 2}, NotDerivableError, "grades are of documents already, such as 'b'"),
        ({("q1", "x#0"): 2}, NotDerivableError, "1 of its passages are not in the corpus"),
    ],
)
def test_what_is_not_of_passages_is_not_summed_up(documents, graded, error, why):
    qrels = factories.qrel_set(documents, graded)

    with pytest.raises(error, match=why):
        derive(documents, qrels)

    assert documents.qrel_sets.count() == 1


def test_a_benchmark_of_passages_takes_no_grades_of_documents(passages):
    qrels = factories.qrel_set(passages, {("q1", "a#0"): 1})

    with pytest.raises(NotDerivableError, match="does not measure documents"):
        derive(passages, qrels)


def test_the_command_derives_and_names_what_there_is(documents, capsys):
    factories.qrel_set(documents, {("q1", "a#0"): 1}, "official")
    factories.member(documents, "olga", "owner")

    call_command("derive_document_qrels", "docs", "official", name="whole")

    assert "qrels 'whole': 1 grade of documents, 1 relevant" in capsys.readouterr().out
    with pytest.raises(CommandError, match=r"No qrels 'none' in 'docs'\. There are: "):
        call_command("derive_document_qrels", "docs", "none")


def test_a_submitted_run_of_passages_is_scored_by_its_documents(documents, signed_in):
    grades = factories.qrel_set(documents, {("q1", "a"): 3, ("q1", "c"): 1}, "official")
    QrelSet.objects.filter(pk=grades.pk).update(n_relevant=2)
    factories.release(QrelSet.objects.get(pk=grades.pk))
    client = signed_in(factories.member(documents, "sam", "submitter"))
    file = ContentFile(RUN.strip().encode() + b"\n", name="s.run")
    asked = {"file": file, "name": "mine", "visibility": "benchmark", "aggregation": "sump"}

    client.post(reverse("scoring:submission-new", args=["docs"]), asked)
    jobs.run_queued()

    run = documents.runs.get(name="mine")
    assert run.metadata["aggregation"] == "sump"
    # a, b, c: the first and the last are relevant, two of three are judged.
    hits = hits_against(run_path(run), release_qrels(documents.releases.get()))
    assert hits["q1"] == (3, [(1, 3), (3, 1)])


@pytest.fixture
def sump_run(documents, do_jobs):
    """A scored submission of passages that were summed up by sumP, and the phase after its own."""
    grades = factories.qrel_set(documents, {("q1", "a"): 3, ("q1", "c"): 1}, "official")
    QrelSet.objects.filter(pk=grades.pk).update(n_relevant=2)
    grades = QrelSet.objects.get(pk=grades.pk)
    sam = factories.member(documents, "sam", "submitter")
    file = ContentFile(RUN.strip().encode() + b"\n", name="s.run")
    submission = accept_submission(
        phase=open_submissions(release=factories.release(grades)),
        user=sam,
        upload=uploading.receive_upload(benchmark=documents, owner=sam, file=file),
        name="mine",
        aggregation="sump",
    )
    do_jobs()
    submission.refresh_from_db()
    return submission, open_submissions(release=factories.release(grades, "1.1.0"))


def test_a_run_of_passages_is_sent_on_summed_up_as_it_was(sump_run):
    submission, later = sump_run

    sent_on = send_on(submission=submission, phase=later, user=submission.submitter)
    # Before the job that scores all runs on the new release.
    jobs.execute(sent_on.job_id, has_heartbeat=False)

    sent_on.refresh_from_db()
    assert (sent_on.state, sent_on.run) == ("scored", submission.run)
    first, second = ScoreSet.objects.filter(run=submission.run).order_by("release")
    means = [
        dict(score_set.scores.filter(slice_name="").values_list("measure", "mean"))
        for score_set in (first, second)
    ]
    assert means[0] == means[1]


def test_a_run_of_passages_summed_up_otherwise_is_not_the_same_run(sump_run, do_jobs):
    submission, later = sump_run

    otherwise = accept_submission(
        phase=later,
        user=submission.submitter,
        upload=submission.run.upload,
        name="mine",
        aggregation="maxp",
    )
    do_jobs()

    otherwise.refresh_from_db()
    assert (otherwise.state, otherwise.run) == ("invalid", None)
    assert "choose another name" in otherwise.problems[0]["text"]
