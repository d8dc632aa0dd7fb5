"""Imports: whole or not at all, with every wrong line named."""

import gzip
import json
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks_app.collections.services import uploading
from benchmarks_app.collections.services.uploading import AlreadyImportedError
from benchmarks_app.common.selectors.reading import (
    benchmark_documents,
    corpus_reader,
    qrels_of,
    run_path,
    unknown_documents,
)
from benchmarks_app.importing.services import importing, importing_queries
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, Job, Qrel, QrelSet, Query, QueryFamily, Run
from benchmarks_app.splits.services import splitting
from benchwright.formats.errors import GradeMapError, UnknownKindError
from benchwright.formats.mapping import EVERY_ROW
from benchwright.recipes.splits import Mode
from benchwright.splits import SplitRecipe
from tests import factories

CORPUS = b"""{"_id": "d2", "title": "Two", "text": "second text"}
{"_id": "d1", "title": "", "text": "first \\u2028 text"}
"""
QUERIES = b"""{"_id": "q1", "text": "first?", "metadata": {"family": "a", "frequency": 4}}
{"_id": "q2", "text": "second?", "metadata": {"family": "a", "first_seen": "2025-03-01"}}
{"_id": "q3", "text": "third?"}
"""
HEADER = b"query-id\tcorpus-id\tscore\n"


@pytest.fixture
def take_in(tmp_path):
    """A function that imports bytes into a benchmark in this process, and returns the job."""

    def take(benchmark, content: bytes, name: str, kind: str = "auto", **options) -> Job:
        path = tmp_path / name
        path.write_bytes(content)
        keeper = factories.user("keeper")
        upload = uploading.receive_path(benchmark=benchmark, owner=keeper, path=path)
        arguments = importing.import_arguments(upload=upload, kind=kind, **options)
        return jobs.run_here(benchmark=benchmark, user=keeper, **arguments)

    return take


def zipped(path: Path, members: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path.read_bytes()


def problems_of(job: Job) -> list[str]:
    return [f"{p['file']}:{p['line']}: {p['text']}" for p in job.problems]


def test_ids_of_queries_that_runs_and_qrels_take_for_comments_are_told(texts, take_in):
    job = take_in(texts, b"id\ttext\n#1\tfirst\nq2\tsecond\n", "queries.tsv")

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert "1 query has an id that begins with #" in " ".join(job.result["notes"])


def test_beir_zip_becomes_corpus_queries_and_qrels(texts, take_in, tmp_path):
    members = {
        "toy/corpus.jsonl": CORPUS,
        "toy/queries.jsonl": QUERIES,
        "toy/qrels/train.tsv": HEADER + b"q1\td1\t2\n",
        "toy/qrels/test.tsv": HEADER + b"q3\td2\t0\nq3\td1\t1\n",
    }

    job = take_in(texts, zipped(tmp_path / "z", members), "toy.zip")

    assert job.state == Job.State.DONE, job.error
    assert texts.current_corpus_version.n_documents == 2
    read = benchmark_documents(texts, ["d1", "d9"])
    assert read["d1"].text == "first \u2028 text"
    assert set(read) == {"d1"}
    assert texts.queries.committed().count() == 3
    qrels = QrelSet.objects.ready().get(benchmark=texts)
    assert list(qrels_of(qrels)) == [("q1", "d1", 2), ("q3", "d1", 1), ("q3", "d2", 0)]
    splits = dict(texts.queries.values_list("qid", "family__split"))
    assert splits == {"q1": "train", "q2": "train", "q3": "test"}


def test_long_queries_are_written_few_at_a_time(texts, take_in, monkeypatch):
    monkeypatch.setattr(importing_queries, "CHARACTERS_PER_BATCH", 1)
    written = []
    insert = importing_queries._insert
    monkeypatch.setattr(
        importing_queries, "_insert", lambda rows: written.append(len(rows)) or insert(rows)
    )

    take_in(texts, QUERIES, "queries.jsonl")

    assert written == [1, 1, 1]
    assert texts.queries.committed().count() == 3


def test_queries_of_one_named_family_share_it(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")

    q1, q2, q3 = texts.queries.order_by("qid")
    assert q1.family == q2.family != q3.family
    assert q1.frequency == 4
    assert q2.first_seen_at.isoformat() == "2025-03-01T00:00:00+00:00"


def test_what_another_column_says_of_a_query_counts_where_it_can(texts, take_in):
    line = b'{"_id": "q", "text": "x", "n": null, "frequency": 1%b, "first_seen": "%b"}\n'
    content = line % (30 * b"0", b"9999-12-31T23:00:00-09:00")

    take_in(texts, content, "queries.jsonl", mapping={"frequency": "n", "first_seen": ""})

    query = texts.queries.get()
    assert (query.frequency, query.first_seen_at) == (None, None)


def test_all_problems_of_a_file_are_told_and_nothing_stays(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")
    wrong = b"q1 0 d1 1\nq1 0 d1 2\nq9 0 d1 1\nq2 0 d1 7\nq2 0 d2 high\nq3 0 d3\n"

    job = take_in(texts, wrong, "wrong.qrels", kind="qrels")

    assert job.state == Job.State.FAILED
    problems = problems_of(job)
    assert [line.split(":")[1] for line in problems] == ["2", "3", "4", "5", "6"]
    assert "graded in wrong.qrels:1 already" in problems[0]
    assert "query 'q9' is not in the benchmark" in problems[1]
    assert "grade 7 is not on the benchmark's scale (0, 1, 2, 3)" in problems[2]
    assert "--grade-map 4=3" in problems[2]
    assert not QrelSet.objects.exists()
    assert not Qrel.objects.exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("toy.qrels", b"q1 0 d1 1\nq2 0 d1 0\nq1 0 d1 1\n"),
        ("toy.csv", b"query_id,doc_id,grade\nq1,d1,1\nq2,d1,0\nq1,d1,1.0\n"),
    ],
)
def test_row_that_comes_twice_with_one_grade_is_a_warning(texts, take_in, name, content):
    take_in(texts, QUERIES, "queries.jsonl")

    job = take_in(texts, content, name)

    assert job.state == Job.State.DONE, problems_of(job)
    assert f"was graded so in {name}:" in job.result["notes"][-1]
    qrels = QrelSet.objects.get()
    assert (qrels.n_qrels, qrels.n_relevant, qrels.qrels.count()) == (2, 1, 2)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("toy.qrels", b"q1 0 d1 1\nq1 0 %b 1\n"),
        ("topics.txt", b"<top>\n<num>%b<title>a\n</top>\n"),
    ],
)
def test_id_that_is_longer_than_any_is_told_in_trecs_files_too(texts, take_in, name, content):
    take_in(texts, QUERIES, "queries.jsonl")

    job = take_in(texts, content % (b"1" * 513), name)

    assert job.state == Job.State.FAILED
    assert "the id has 513 bytes; at most 512 are taken" in problems_of(job)[0]


def test_failed_import_of_queries_leaves_no_row(texts, take_in):
    job = take_in(texts, QUERIES + b"not json\n", "queries.jsonl")

    assert job.state == Job.State.FAILED
    assert not Query.objects.exists()
    assert not QueryFamily.objects.exists()


def test_query_with_another_text_under_the_same_id_is_refused(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")

    job = take_in(texts, b'{"_id": "q1", "text": "other"}\n', "more-queries.jsonl")

    assert "query 'q1' is in the benchmark already, with another text" in problems_of(job)[0]
    assert texts.queries.get(qid="q1").text == "first?"


def test_same_bytes_are_recognised_under_another_name(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")

    with pytest.raises(AlreadyImportedError, match="imported here before, as 3 queries"):
        take_in(texts, QUERIES, "copy-of-queries.jsonl")


def test_file_that_two_jobs_import_at_once_comes_in_once(texts, take_in, monkeypatch):
    """Import was pressed twice, or by two people: neither job saw what the other was at."""
    take_in(texts, CORPUS, "corpus.jsonl")
    take_in(texts, QUERIES, "queries.jsonl")
    upload = factories.waiting_upload(texts, "gold.tsv", HEADER + b"q1\td1\t2\n")
    keeper = factories.user("keeper")
    first, second = (
        importing.start_import(benchmark=texts, user=keeper, upload=upload) for _ in range(2)
    )
    stage = importing._staged

    def stage_and_let_the_other_pass(job, *args):
        work = stage(job, *args)
        if job.row.pk == first.pk:
            jobs.execute(second.pk, has_heartbeat=False)
        return work

    monkeypatch.setattr(importing, "_staged", stage_and_let_the_other_pass)
    jobs.execute(first.pk, has_heartbeat=False)

    first.refresh_from_db(), second.refresh_from_db()
    assert (first.state, second.state) == ("failed", "done")
    assert "was imported here before" in first.error
    assert QrelSet.objects.count() == 1


def test_gzip_is_read_by_its_content(texts, take_in):
    job = take_in(texts, gzip.compress(QUERIES), "queries.jsonl.gz")

    assert job.state == Job.State.DONE, job.error
    assert texts.queries.count() == 3


def test_grades_are_mapped_and_the_direction_is_turned(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")

    take_in(texts, b"q1 0 d1 1\nq2 0 d1 3\nq3 0 d1 -1\n", "q.qrels", grade_map="1=3, 3=1, -1=0")

    grades = [grade for _, _, grade in qrels_of(QrelSet.objects.get())]
    assert grades == [3, 1, 0]


def test_unreadable_grade_map_is_refused_before_a_job_starts(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")

    with pytest.raises(GradeMapError, match="'1=3=1' is not a grade mapping"):
        take_in(texts, b"q1 0 d1 1\n", "q.qrels", grade_map="1=3=1")


def test_run_is_stored_by_score_with_ties_by_id_descending(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")
    lines = b"q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.5 t\nq2 Q0 d1 1 3 t\nq9 Q0 d1 1 3 t\n"

    job = take_in(texts, lines, "bm25.run")

    run = Run.objects.get()
    assert (run.name, run.n_queries, run.depth, run.n_rows) == ("bm25", 2, 2, 3)
    assert job.result["notes"] == ["1 query of the run is not in the benchmark."]
    import polars

    rows = polars.read_parquet(run_path(run)).filter(polars.col("qid") == "q1")
    assert rows.sort("rank")["docid"].to_list() == ["d2", "d1"]


def test_run_with_wrong_lines_names_them(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")

    job = take_in(texts, b"q1 Q0 d1 1 n/a t\nq1 Q0 d2 2 nan t\nq1 Q0 d3 3 1 t\n", "x.run")

    assert [line.split(": ")[0] for line in problems_of(job)] == ["x.run:1", "x.run:2"]
    assert not Run.objects.exists()


def test_run_of_another_corpus_is_refused(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")
    take_in(texts, CORPUS, "corpus.jsonl")

    job = take_in(texts, b"q1 Q0 stranger 1 1 t\n", "x.run")

    assert "document 'stranger' is not in the corpus" in problems_of(job)[0]


def test_ids_only_corpus_takes_a_list_of_ids_and_refuses_texts(benchmark, take_in):
    assert take_in(benchmark, b"d1\nd2\n", "ids.txt").state == Job.State.DONE
    assert unknown_documents(benchmark, ["d1", "d3"]) == {"d3"}

    job = take_in(benchmark, CORPUS, "corpus.jsonl")

    assert "holds ids only" in job.error


def test_topics_bring_description_and_narrative(texts, take_in):
    topics = b"""<top><num> Number: 7
<title> heat transfer
<desc> Description: how heat moves
<narr> Narrative: anything on conduction
</top>"""

    take_in(texts, topics, "topics.txt")

    query = Query.objects.get()
    assert (query.qid, query.text) == ("7", "heat transfer")
    assert query.narrative == "anything on conduction"


def test_file_of_unknown_kind_asks_for_it(texts, take_in):
    with pytest.raises(UnknownKindError, match=r"what kind of file this is cannot be told.*--kind"):
        take_in(texts, b"lorem ipsum dolor\n", "x.txt")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../../etc/passwd", "climb"),
        ("/etc/passwd", "absolute"),
        ("a\\..\\b", "backslash"),
    ],
)
def test_zip_that_climbs_out_is_refused(texts, take_in, tmp_path, name, why):
    content = zipped(tmp_path / "z", {"t/queries.jsonl": QUERIES, name: b"x"})

    job = take_in(texts, content, "evil.zip")

    assert job.state == Job.State.FAILED
    assert why in job.error or name in job.error
    assert not Query.objects.exists()


def test_zip_bomb_is_refused(texts, take_in, tmp_path):
    path = tmp_path / "z"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t/queries.jsonl", b" " * (64 << 20))

    job = take_in(texts, path.read_bytes(), "bomb.zip")

    assert job.state == Job.State.FAILED
    assert "bytes" in job.error


def test_query_in_two_splits_is_refused(texts, take_in, tmp_path):
    members = {
        "queries.jsonl": QUERIES,
        "qrels/train.tsv": HEADER + b"q1\td1\t1\n",
        "qrels/test.tsv": HEADER + b"q1\td2\t1\n",
    }

    job = take_in(texts, zipped(tmp_path / "z", members), "toy.zip")

    assert "query 'q1' is in the splits test and train" in problems_of(job)[0]
    assert not Query.objects.exists()


def test_second_corpus_is_a_new_version_and_the_first_stays(texts, take_in):
    take_in(texts, CORPUS, "corpus.jsonl")
    first = texts.current_corpus_version

    take_in(texts, CORPUS + b'{"_id": "d3", "title": "", "text": "more"}\n', "corpus2.jsonl")

    assert [v.n_documents for v in texts.corpus.versions.order_by("number")] == [2, 3]
    assert corpus_reader(first).n_documents == 2


def test_staging_is_empty_after_an_import(texts, take_in, settings):
    take_in(texts, CORPUS, "corpus.jsonl")
    take_in(texts, b"{broken\n", "queries.jsonl")

    assert list(settings.STAGING_DIR.iterdir()) == []


# --- which column is the grade -------------------------------------------------------------------

RATED = b"query_id,doc_id,Rating\nq1,d1,3\nq1,d2,0\nq2,d1,1.0\n"
STARS = b"query_id,doc_id,stars,note\nq1,d1,3,x\nq1,d2,0,y\n"


def test_a_column_of_grades_keeps_its_grades_and_they_are_counted(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")

    job = take_in(texts, RATED, "rated.csv")

    assert job.state == Job.State.DONE, job.error
    assert job.result["made"] == ["qrels 'rated' with 3 grades (0: 1, 1: 1, 3: 1)"]
    qrels = qrels_of(QrelSet.objects.get())
    assert list(qrels) == [("q1", "d1", 3), ("q1", "d2", 0), ("q2", "d1", 1)]


@pytest.mark.parametrize("content", [STARS, b"query_id,doc_id\nq1,d1\n"])
def test_a_table_whose_grades_nobody_named_is_not_imported(texts, take_in, content):
    take_in(texts, QUERIES, "queries.jsonl")

    job = take_in(texts, content, "stars.csv")

    assert job.state == Job.State.FAILED
    assert "no column is chosen for the grade" in job.error
    assert not QrelSet.objects.exists()


def test_the_answer_to_which_is_the_grade_is_that_column_alone(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")

    job = take_in(texts, STARS, "stars.csv", mapping={"grade": "stars"})

    assert job.state == Job.State.DONE, job.error
    assert [grade for *_, grade in qrels_of(QrelSet.objects.get())] == [3, 0]


def test_that_every_row_is_relevant_is_said_by_somebody(texts, take_in, tmp_path):
    take_in(texts, QUERIES, "queries.jsonl")
    members = {"a/more.csv": b"qid,docid\nq2,d1\n", "a/queries.jsonl": QUERIES}

    alone = take_in(texts, STARS, "stars.csv", mapping={"grade": EVERY_ROW})
    packed = take_in(texts, zipped(tmp_path / "z", members), "a.zip", mapping={"grade": EVERY_ROW})

    assert [job.state for job in (alone, packed)] == [Job.State.DONE] * 2, packed.error
    assert set(Qrel.objects.values_list("grade", flat=True)) == {1}
    assert Qrel.objects.count() == 3


# --- what is left out on request -----------------------------------------------------------------

BAD_RATED = (
    b"query_id,doc_id,Rating\nq1,d1,3\nq1,d2,high\nq9,d2,0\n"
    b"q2,caf\xe9\xc3\xa9,1\nq2,d1,1\nq1,d1,2\n"
)


def test_bad_records_are_left_out_on_request_named_counted_and_in_the_audit(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")

    refused = take_in(texts, BAD_RATED, "strict.csv")
    job = take_in(texts, BAD_RATED, "rated.csv", leave_out="records")

    assert refused.state == Job.State.FAILED
    assert job.state == Job.State.DONE, job.error
    qrels = qrels_of(QrelSet.objects.get())
    assert list(qrels) == [("q1", "d1", 3), ("q2", "d1", 1)]
    event = AuditEvent.objects.get(action="leave-out")
    assert event.detail["records"] == 4
    lines = sorted(int(named.split(":")[1]) for named in event.detail["named"])
    assert lines == [3, 4, 5, 7]
    assert "4 bad records were left out." in job.result["notes"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"query_id,doc_id,grade\nq1,d1,7\n", "grade 7 is not on the benchmark's scale"),
        ("b.csv", b'query_id,doc_id,grade\nq1,d1,"1\n', "is not CSV"),
        ("c.run", b"q1 Q0 d1 1 2 t\nq1 Q0 d2 2 n/a t\n", "score is 'n/a'"),
    ],
)
def test_what_leaving_records_out_cannot_mend_is_refused_all_the_same(
    texts, take_in, name, content, words
):
    take_in(texts, QUERIES, "queries.jsonl")

    job = take_in(texts, content, name, leave_out="records")

    assert job.state == Job.State.FAILED
    assert words in problems_of(job)[0]


def test_ratings_whose_query_is_its_text_meet_the_queries_that_are_here(texts, take_in):
    take_in(texts, QUERIES, "queries.jsonl")
    ratings = b"query,docid,rating\nfirst?,d1,3\n second? ,d1,1\nstar wars,d2,2\n"

    job = take_in(texts, ratings, "quepid.csv")

    assert job.state == Job.State.DONE, job.error
    new = Query.objects.get(text="star wars")
    assert new.qid.startswith("q-")
    assert sorted(qrels_of(QrelSet.objects.get())) == [
        (new.qid, "d2", 2), ("q1", "d1", 3), ("q2", "d1", 1),
    ]  # fmt: skip
    assert Query.objects.count() == 4


def test_a_request_of_rank_eval_brings_queries_and_grades(texts, take_in):
    ratings = [{"_index": "i", "_id": "d1", "rating": 3}, {"_index": "i", "_id": "d2", "rating": 0}]
    request = {
        "id": "fish",
        "request": {"query": {"match": {"text": "where do fish sleep"}}},
        "ratings": ratings,
    }

    job = take_in(texts, json.dumps({"requests": [request]}, indent=2).encode(), "eval.json")

    assert job.state == Job.State.DONE, job.error
    assert Query.objects.get().text == "where do fish sleep"
    assert list(qrels_of(QrelSet.objects.get())) == [("fish", "d1", 3), ("fish", "d2", 0)]


def test_documents_of_a_bulk_request_become_the_corpus(texts, take_in):
    lines = b"".join(
        b'{"index": {"_id": "d%d"}}\n{"title": "T", "body": "text %d"}\n' % (n, n) for n in (1, 2)
    )

    job = take_in(texts, lines, "bulk.ndjson")

    assert job.state == Job.State.DONE, job.error
    assert benchmark_documents(texts, ["1", "d2"])["d2"].text == "text 2"


@pytest.mark.parametrize(
    "content",
    [
        b".I 1\n.T\ncaf\xe9\xc3\xa9\n.W\na\n.I 2\n.T \nB\n.W\nb\n",
        b'_id,title,text\n1,"two\nl\xefn\xc3\xa9s",x\n2,B,b\n',
    ],
)
def test_a_bad_line_takes_its_whole_record_with_it(texts, take_in, content):
    job = take_in(texts, content, "docs", kind="documents", leave_out="records")

    assert job.state == Job.State.DONE, job.error
    assert set(benchmark_documents(texts, ["1", "2"])) == {"2"}


def test_a_bad_file_is_left_out_of_a_collection_on_request(texts, take_in, tmp_path):
    members = {
        "a/corpus.jsonl": CORPUS,
        "a/queries.jsonl": QUERIES,
        "a/qrels/test.tsv": HEADER + b"q1\td1\t2\nq2\td1\tx\n",
        "a/bm25.run": b"q1 Q0 d1 1 2 t\n",
    }

    job = take_in(texts, zipped(tmp_path / "z", members), "a.zip", leave_out="files")

    assert job.state == Job.State.DONE, job.error
    assert (texts.queries.count(), texts.runs.count(), texts.qrel_sets.count()) == (3, 1, 0)
    [note] = [note for note in job.result["notes"] if note.startswith("file left out:")]
    assert "qrels/test.tsv:3: score is 'x'" in note
    assert "test.tsv" in AuditEvent.objects.get(action="leave-out").detail["files"][0]


@pytest.mark.parametrize(
    ("file", "name"),
    [(".qrels", ".qrels"), (f"{'n' * 140}.v2.qrels", "n" * 120), ("a.b.run", "a.b")],
)
def test_what_a_file_becomes_has_a_name_that_every_database_takes(texts, take_in, file, name):
    take_in(texts, QUERIES, "queries.jsonl")
    take_in(texts, CORPUS, "corpus.jsonl")

    job = take_in(texts, b"q1 Q0 d1 1 2.5 bm25\n" if "run" in file else b"q1 0 d1 1\n", file)

    assert f"'{name}'" in job.result["made"][0]
    assert [row.name for row in (*texts.runs.all(), *texts.qrel_sets.ready())] == [name]


# --- topics with times ---------------------------------------------------------------------------

TOPICS = b"""<top>
<num> Number: MB001 </num>
<title> BBC World Service staff cuts </title>
<querytime> Tue Feb 08 12:30:27 +0100 2011 </querytime>
<querytweettime> 34952194402811904 </querytweettime>
</top>
<top><num>MB002</num><title>fifa</title><querytime>2011-02-09T10:00:00Z</querytime></top>
<top><num>MB003</num><title>no time</title><querytime>long ago</querytime>
<lang>as it is spoken in the north of Spain</lang></top>
<top><num>MB004</num><title>no year</title><querytime>0001-01-01T00:00:00+14:00</querytime></top>
"""


def test_the_querytime_of_a_topic_is_when_it_was_first_seen(texts, take_in):
    job = take_in(texts, TOPICS, "topics.txt")

    seen = dict(texts.queries.values_list("qid", "first_seen_at"))
    assert seen["MB001"].isoformat() == "2011-02-08T11:30:27+00:00"
    assert seen["MB002"].isoformat() == "2011-02-09T10:00:00+00:00"
    assert seen["MB003"] is seen["MB004"] is None
    assert not texts.queries.exclude(lang="").exists()
    assert any("querytime is 'long ago'; expected a time such as" in n for n in job.result["notes"])
    assert texts.queries.get(qid="MB001").metadata == {"querytweettime": "34952194402811904"}


DATA = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.mark.skipif(not DATA.is_dir(), reason=f"BENCHWRIGHT_TEST_DATA: no {DATA}")
def test_topics_of_trec_microblog_are_split_by_time(texts, take_in):
    folder = DATA / "timestamped_topics"
    content = (folder / "topics.microblog2011.txt").read_bytes()
    take_in(texts, content, "topics.2011.txt")
    recipe = SplitRecipe(Mode.CHRONOLOGICAL, test_from=datetime(2011, 2, 7, tzinfo=UTC))
    parts = splitting.preview_split(benchmark=texts, recipe=recipe).description.parts
    later = (folder / "topics.microblog2012.txt").read_bytes()
    job = take_in(texts, later, "topics.2012.txt")

    assert all(part.n_queries for part in parts)
    assert sum(part.n_queries for part in parts) == 50
    # One topic of the file has the year 20.
    assert texts.queries.get(first_seen_at=None).qid == "MB076"
    assert [note for note in job.result["notes"] if "querytime is 'Tue Feb 08 10:34:12" in note]
