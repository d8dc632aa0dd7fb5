"""The list of waiting files: what is wrong with each, what can be done, and what becomes of it."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from time import sleep

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.services import reading_uploads
from benchmarks_app.importing.services.waiting_files import waiting_files
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, Job, Qrel, QrelSet, Query, Upload
from benchwright.sandbox import ReaderEndedError
from tests import factories
from tests.open_pages import misnamed

CORPUS = b"".join(b'{"_id": "d%d", "title": "", "text": "words"}\n' % n for n in range(1, 30))
QUERIES = b"qid,text\nq1,first?\nq2,second?\n"
BAD_EVERY = 7


def put(client, *files: tuple[str, bytes]) -> None:
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    client.post(reverse("import-new", args=["texts"]), {"files": sent})


def decide(client, name: str, act: str, **data):
    upload = Upload.objects.get(name=name, is_waiting=True)
    address = reverse("import-decide", args=["texts", upload.pk])
    response = client.post(address, {"act": act, **data})
    assert response.status_code == 302
    return response


def listed(client) -> str:
    page = client.get(reverse("import-new", args=["texts"])).content.decode()
    return " ".join(page.split())


def import_ready(client) -> Job:
    client.post(reverse("import-all", args=["texts"]))
    jobs.run_queued()
    return Job.objects.filter(kind="import-file").latest("pk")


def states(benchmark) -> dict[str, str]:
    return {file.upload.name: file.state for file in waiting_files(benchmark)}


def queries_file(n: int) -> tuple[bytes, list[int]]:
    """A file of queries of which every seventh has no text, and the lines of those."""
    texts = [b"" if number % BAD_EVERY == 3 else b"words" for number in range(n)]
    rows = b"".join(b"q%d,%s\n" % (number, text) for number, text in enumerate(texts))
    bad = [number + 2 for number, text in enumerate(texts) if not text]
    return b"qid,text\n" + rows, bad


def test_same_bytes_under_another_name_leave_nothing_behind(
    olga, texts, django_capture_on_commit_callbacks
):
    put(olga, ("queries.csv", QUERIES))
    with django_capture_on_commit_callbacks(execute=True):
        put(olga, ("again.csv", QUERIES))  # it waits already
    import_ready(olga)
    with django_capture_on_commit_callbacks(execute=True):
        put(olga, ("once-more.csv", QUERIES))  # it was imported

    assert [upload.name for upload in texts.uploads.all()] == ["queries.csv"]
    assert [name.rpartition("/")[2] for name in factories.stored_below("uploads")] == [
        "queries.csv"
    ]


def test_file_that_the_database_does_not_take_leaves_nothing_in_the_store(texts, monkeypatch):
    """As where the benchmark was deleted while the file was on its way."""
    factories.waiting_upload(texts, "queries.csv", QUERIES)

    def refuse(**_) -> None:
        raise IntegrityError

    monkeypatch.setattr(Upload.objects, "create", refuse)
    for content in (QUERIES, b"qid,text\nq9,other?\n"):
        with pytest.raises(IntegrityError):
            factories.waiting_upload(texts, "queries.csv", content)

    (kept,) = factories.stored_below("uploads")
    assert kept == Upload.objects.get().stored


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="threads share one SQLite")
def test_same_bytes_that_come_twice_at_once_wait_once(texts, monkeypatch):
    """Sent by a second press, or again over a line that broke: neither saw the other's."""
    refuse, keeper = uploading.refuse_imported, factories.user("keeper")

    def refuse_slowly(upload: Upload) -> None:
        refuse(upload)
        sleep(0.3)

    def send(name: str) -> None:
        with closing(connection):
            factories.waiting_upload(texts, name, QUERIES, owner=keeper)

    monkeypatch.setattr(uploading, "refuse_imported", refuse_slowly)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(send, ["a.csv", "a.csv"]))

    assert texts.uploads.count() == 1
    assert texts.uploads.get().is_waiting


def test_equal_errors_are_one_line_with_a_count_and_the_first_lines(olga):
    content, bad = queries_file(700)
    put(olga, ("queries.csv", content), ("other.csv", QUERIES))

    page = listed(olga)

    assert len(bad) == 100
    assert page.count("has no text") + page.count("is empty") == 1
    assert "100 \N{MULTIPLICATION SIGN} " in page
    assert f"lines {', '.join(map(str, bad[:5]))} and 95 more" in page
    assert "600 queries good, 100 bad" in page
    assert "Leave those 100 records out" in page


def test_what_is_left_out_is_what_was_listed_and_the_rest_is_imported(olga, texts):
    content, bad = queries_file(300)
    put(olga, ("queries.csv", content), ("more.csv", b"qid,text\nx1,other\n"))
    decide(olga, "queries.csv", "leave-out")
    assert "Imported without the 43 bad records" in listed(olga)

    job = import_ready(olga)

    # A second way: the lines of the file without those that were listed.
    lines = content.decode().splitlines()
    kept = {
        line.split(",")[0]
        for number, line in enumerate(lines, start=1)
        if number > 1 and number not in bad
    }
    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert set(texts.queries.values_list("qid", flat=True)) == kept | {"x1"}
    assert len(kept) == 300 - len(bad)
    assert f"{len(bad)} bad records were left out. The first 20 problems:" in job.result["notes"]
    named = [
        int(re.search(r"csv:(\d+):", note)[1]) for note in job.result["notes"] if "csv:" in note
    ]
    assert named == bad[:20]
    event = AuditEvent.objects.get(action="leave-out")
    assert event.detail["records"] == len(bad)


def test_nothing_is_left_out_of_a_file_of_which_nobody_said_so(olga, texts):
    content, bad = queries_file(30)
    put(olga, ("one.csv", content), ("two.csv", content.replace(b"\nq", b"\nz")))
    decide(olga, "one.csv", "leave-out")

    job = import_ready(olga)

    assert job.state == Job.State.DONE
    assert texts.queries.count() == 30 - len(bad)
    assert states(texts) == {"two.csv": "bad"}


def test_more_bad_records_than_somebody_agreed_to_import_nothing(olga, texts):
    factories.query(texts, "q1")
    content = b"qid docid grade\n".replace(b" ", b"\t") + b"q1\td1\t2\nq1\td2\thigh\nq9\td3\t2\n"
    put(olga, ("grades.tsv", content))
    decide(olga, "grades.tsv", "leave-out")

    job = import_ready(olga)

    assert job.state == Job.State.FAILED
    assert not QrelSet.objects.exists()
    page = listed(olga)
    assert "The last import took nothing of it" in page
    assert "query &#x27;q9&#x27; is not in the benchmark" in page
    assert states(texts) == {"grades.tsv": "bad"}

    decide(olga, "grades.tsv", "leave-out")
    assert states(texts) == {"grades.tsv": "ready"}
    job = import_ready(olga)
    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert list(Qrel.objects.values_list("docid", "grade")) == [("d1", 2)]


def test_one_bad_file_goes_on_waiting_and_the_others_are_imported(olga, texts):
    put(
        olga,
        ("corpus.jsonl", CORPUS),
        ("queries.csv", QUERIES),
        ("good.qrels", b"q1 0 d1 2\nq2 0 d2 0\n"),
        ("bad.run", b"q1 Q0 d1 1 2.5 s\nq2 Q0 nowhere 1 2.5 s\n"),
        ("good.run", b"q1 Q0 d1 1 2.5 s\nq2 Q0 d3 1 2.5 s\n"),
    )
    assert set(states(texts).values()) == {"ready"}

    job = import_ready(olga)

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert job.title == "Import 5 files"
    assert texts.queries.count() == 2
    assert texts.current_corpus_version.n_documents == 29
    assert texts.qrel_sets.get().qrels.count() == 2
    assert [run.name for run in texts.runs.all()] == ["good"]
    assert states(texts) == {"bad.run": "bad"}
    assert "document &#x27;nowhere&#x27; is not in the corpus" in listed(olga)
    assert not Query.objects.exclude(staged_by=None).exists()


def test_an_import_of_which_no_file_can_be_taken_leaves_all_as_it_was(olga, texts):
    factories.query(texts, "q1", text="another text")
    put(olga, ("queries.csv", QUERIES), ("a.qrels", b"q7 0 d1 2\n"))

    job = import_ready(olga)

    assert job.state == Job.State.FAILED
    assert [query.text for query in texts.queries.all()] == ["another text"]
    assert not QrelSet.objects.exists()
    assert states(texts) == {"queries.csv": "bad", "a.qrels": "bad"}
    decide(olga, "a.qrels", "again")
    assert states(texts)["a.qrels"] == "ready"


def test_a_mended_file_stands_in_the_place_of_the_bad_one(olga, texts):
    content, _ = queries_file(30)
    put(olga, ("queries.csv", content), ("last.csv", b"qid,text\nx1,other\n"))

    mended = SimpleUploadedFile("queries.csv", content.replace(b",\n", b",mended\n"))
    decide(olga, "queries.csv", "replace", file=mended)

    assert states(texts) == {"queries.csv": "ready", "last.csv": "ready"}
    assert list(states(texts)) == ["queries.csv", "last.csv"]
    import_ready(olga)
    assert texts.queries.count() == 31


def test_the_same_bytes_or_no_file_replace_nothing(olga, texts):
    content, _ = queries_file(30)
    put(olga, ("queries.csv", content))

    decide(olga, "queries.csv", "replace", file=SimpleUploadedFile("again.csv", content))
    decide(olga, "queries.csv", "replace")

    assert states(texts) == {"queries.csv": "bad"}


def test_a_document_that_comes_twice_in_a_run_is_told_before_the_import_and_not_left_out(
    olga, texts
):
    factories.query(texts, "q1")
    put(olga, ("a.run", b"q1 Q0 d1 1 2.5 s\nq1 Q0 d2 2 2.0 s\nq1 Q0 d1 3 1.5 s\n"))

    page = listed(olga)
    decide(olga, "a.run", "leave-out")

    assert "2 results good, 1 bad" in page
    assert "had document d1 on line 1 already" in page
    assert "Leave that record out" not in page
    assert states(texts) == {"a.run": "bad"}


def test_ones_on_a_scale_that_counts_from_two_are_asked_for_and_mapped_by_one_press(olga, texts):
    factories.query(texts, "q1")
    texts.grades.filter(value=1).update(is_relevant=False)
    put(olga, ("binary.qrels", b"q1 0 d1 1\nq1 0 d2 1\nq1 0 d3 0\n"))
    page = listed(olga)
    assert "0 of 3 count as relevant." in page
    assert states(texts) == {"binary.qrels": "check"}
    decide(olga, "binary.qrels", "check", grade_1="2", grade_0="0")
    assert "<strong>2 of 3</strong> count as relevant, mapped" in listed(olga)

    assert import_ready(olga).state == Job.State.DONE
    grades = dict(Qrel.objects.values_list("docid", "grade"))
    assert grades == {"d1": 2, "d2": 2, "d3": 0}


def test_grades_mapped_in_the_list_count_in_an_import_of_several_files(olga, texts):
    put(
        olga,
        ("corpus.jsonl", CORPUS),
        ("queries.csv", QUERIES),
        ("turned.qrels", b"q1 0 d1 1\nq1 0 d2 3\nq2 0 d1 7\n"),
        ("plain.qrels", b"q1 0 d1 3\nq2 0 d2 2\n"),
    )
    assert states(texts)["turned.qrels"] == "check"
    decide(olga, "turned.qrels", "check", grade_1="3", grade_3="1", grade_7="0")

    job = import_ready(olga)

    assert job.state == Job.State.DONE, (job.error, job.problems)
    turned, plain = (texts.qrel_sets.get(name=name) for name in ("turned", "plain"))
    assert set(turned.qrels.values_list("docid", "grade")) == {("d1", 3), ("d2", 1), ("d1", 0)}
    assert set(plain.qrels.values_list("docid", "grade")) == {("d1", 3), ("d2", 2)}


def test_a_grade_off_the_scale_without_an_answer_is_not_imported(olga, texts):
    factories.query(texts, "q1")
    put(olga, ("a.qrels", b"q1 0 d1 9\nq1 0 d2 2\n"))

    decide(olga, "a.qrels", "check", grade_9="", grade_2="2")

    assert states(texts) == {"a.qrels": "check"}
    page = listed(olga)
    assert "Grade 9</strong> is not on this benchmark's scale" in page
    assert '_helptext">It is not on this benchmark&#x27;s scale.' in page
    assert misnamed(page) == []


def test_the_column_of_the_grade_is_chosen_in_the_list(olga, texts):
    factories.query(texts, "q1")
    put(olga, ("stars.csv", b"query_id,doc_id,stars,secs\nq1,d1,3,20\nq1,d2,0,9\n"))
    assert states(texts) == {"stars.csv": "check"}
    assert misnamed(listed(olga)) == []
    columns = {"p0-map_query": "query_id", "p0-map_document": "doc_id", "p0-map_grade": "stars"}

    decide(
        olga, "stars.csv", "check", **{"p0-kind": "qrel-table", "p0-was": "qrel-table"}, **columns
    )

    assert states(texts) == {"stars.csv": "ready"}
    assert import_ready(olga).state == Job.State.DONE
    assert set(Qrel.objects.values_list("docid", "grade")) == {("d1", 3), ("d2", 0)}


def test_a_decision_can_be_taken_back(olga, texts):
    content, _ = queries_file(30)
    put(olga, ("queries.csv", content))

    decide(olga, "queries.csv", "leave-out")
    decide(olga, "queries.csv", "take-back")

    assert states(texts) == {"queries.csv": "bad"}
    olga.post(reverse("import-all", args=["texts"]))
    assert not Job.objects.exists()
    assert not texts.queries.exists()


def test_a_large_file_is_left_without_its_bad_records_by_what_the_job_found(
    olga, texts, monkeypatch
):
    monkeypatch.setattr(reading_uploads, "READ_AT_ONCE", 50)
    content, bad = queries_file(400)
    put(olga, ("queries.csv", content))
    decide(olga, "queries.csv", "as-it-is")
    assert states(texts) == {"queries.csv": "unread"}
    jobs.run_queued()

    decide(olga, "queries.csv", "leave-out")
    job = import_ready(olga)

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert texts.queries.count() == 400 - len(bad)


def test_columns_chosen_while_a_job_reads_by_others_are_kept_and_read_by(olga, texts, monkeypatch):
    monkeypatch.setattr(reading_uploads, "READ_AT_ONCE", 1)
    factories.query(texts, "q1")
    put(olga, ("stars.csv", b"query_id,doc_id,stars,secs\nq1,d1,3,20\nq1,d2,0,9\n"))
    jobs.run_queued()
    columns = {"p0-kind": "qrel-table", "p0-was": "qrel-table", "p0-map_query": "query_id"}
    columns["p0-map_document"] = "doc_id"
    decide(olga, "stars.csv", "check", **columns, **{"p0-map_grade": "secs"})
    preview, afterthought = reading_uploads.preview, iter(["stars"])

    def interrupted(*arguments, **options):
        for column in afterthought:
            decide(olga, "stars.csv", "check", **columns, **{"p0-map_grade": column})
        return preview(*arguments, **options)

    monkeypatch.setattr(reading_uploads, "preview", interrupted)
    jobs.run_queued()

    assert states(texts) == {"stars.csv": "ready"}
    assert import_ready(olga).state == Job.State.DONE
    assert set(Qrel.objects.values_list("docid", "grade")) == {("d1", 3), ("d2", 0)}


def test_what_two_say_of_a_file_at_once_is_kept_of_both(texts):
    upload = factories.waiting_upload(texts, "queries.csv", QUERIES)
    same = Upload.objects.get(pk=upload.pk)

    uploading.keep_said(upload, as_it_is=True)
    uploading.keep_said(same, settled=3)

    assert Upload.objects.get().reading["said"] == {"as_it_is": True, "settled": 3}


def test_what_is_said_of_a_file_outlives_a_reader_that_broke(texts, monkeypatch):
    upload = factories.waiting_upload(texts, "queries.csv", QUERIES)
    uploading.keep_said(upload, as_it_is=True)

    error = ReaderEndedError(file="queries.csv", reason="ended")
    uploading.keep_broken(upload, error, is_job=False)
    assert Upload.objects.get().reading["broken"]
    later = timezone.now() + uploading.KEPT_ENDED
    monkeypatch.setattr(uploading.timezone, "now", lambda: later)
    uploading.forget_over(upload, is_job=False)

    assert Upload.objects.get().reading == {"said": {"as_it_is": True}}


def test_titles_of_jobs_are_short_and_a_name_of_200_characters_has_room(olga, texts):
    name = f"{'a-very-long-name-' * 12}{'x' * 12}.csv"[-200:]
    put(olga, (name, QUERIES))

    page = listed(olga)
    job = import_ready(olga)

    assert len(job.title) < 60
    assert job.title.startswith(f"Import {name[:20]}")
    assert job.title.endswith(".csv")
    assert name in page  # its title; what stands there is cut


@pytest.mark.parametrize("content", ["naïve".encode("latin-1"), "größe".encode("cp1252")])
def test_a_file_of_another_encoding_is_read_and_the_list_says_how(olga, texts, content):
    put(olga, ("queries.csv", b"qid,text\nq1,good\nq2," + content + b"\n"), ("b.csv", QUERIES))

    page = listed(olga)

    assert states(texts) == {"queries.csv": "ready", "b.csv": "ready"}
    assert "read as Windows-1252 (Western European), which is a guess" in page
    olga.post(reverse("import-all", args=["texts"]))
    jobs.run_queued()
    assert content.decode("cp1252") in Query.objects.values_list("text", flat=True)


def test_sixty_files_are_listed_with_few_queries_and_none_is_opened(
    olga, texts, django_assert_max_num_queries, monkeypatch
):
    put(olga, *((f"q{n}.csv", b"qid,text\nq%d,words\n" % n) for n in range(60)))

    def opened(*args, **options):
        raise AssertionError("a list opens no file")

    monkeypatch.setattr("benchmarks_app.common.services.reading_apart.call", opened)
    with django_assert_max_num_queries(30):
        page = listed(olga)

    assert "Import 60 ready files" in page
    assert len(page) < 250_000


def test_who_may_not_edit_decides_nothing(olga, texts):
    content, _ = queries_file(30)
    put(olga, ("queries.csv", content))
    other = Client()
    other.force_login(
        factories.member(texts, "ada", "annotator"),
        backend="django.contrib.auth.backends.ModelBackend",
    )

    address = reverse("import-decide", args=["texts", Upload.objects.get().pk])

    assert other.post(address, {"act": "leave-out"}).status_code == 403
    assert states(texts) == {"queries.csv": "bad"}


def test_files_with_questions_and_failures_cost_no_query_each(olga, texts):
    def queries_asked(first: int, last: int) -> int:
        content, _ = queries_file(30)
        files = [
            (f"{n}.csv", content.replace(b"\nq", b"\n%dq" % n)) for n in range(first, last)
        ] + [(f"{n}.qrels", b"none%d 0 d1 9\n" % n) for n in range(first, last)]
        put(olga, *files)
        for n in range(first, last):
            decide(olga, f"{n}.qrels", "check", grade_9="3")
        olga.post(reverse("import-all", args=["texts"]))
        jobs.run_queued()
        with CaptureQueriesContext(connection) as captured:
            page = listed(olga)
        assert page.count("The last import took nothing of it") == last
        return len(captured)

    assert queries_asked(0, 2) == queries_asked(2, 20)


# --- ids that the benchmark lacks ----------------------------------------------------------------

QRELS = b"q1 0 d1 1\nq1 0 other 2\nq9 0 d2 1\n"
RUN = b"q1 Q0 d1 1 2.5 s\nq8 Q0 d2 1 2.5 s\nq9 Q0 far 1 2.5 s\n"
TABLE = b"query,document,grade\nq1,d1,1\nq9,other,1\n"


@pytest.mark.parametrize(
    ("name", "content", "queries", "documents"),
    [
        ("my.qrels", QRELS, "1 of its 2 queries is", "1 of the 3 documents that it names is"),
        ("my.run", RUN, "2 of its 3 queries are", "1 of the 3 documents that it names is"),
        ("grades.csv", TABLE, "1 of its 2 queries is", "1 of the 2 documents that it names is"),
        ("only.qrels", b"q9 0 d1 1\n", "Its query &#x27;q9&#x27; is not in this benchmark yet", ""),
    ],
)
def test_ids_that_the_benchmark_lacks_are_told_when_a_file_arrives(
    olga, texts, name, content, queries, documents
):
    put(olga, ("corpus.jsonl", CORPUS), ("queries.csv", QUERIES))
    import_ready(olga)

    put(olga, (name, content))

    page = listed(olga)
    assert queries in page
    assert (documents in page) if documents else "that it names" not in page


def test_one_query_one_grade_and_one_result_are_counted_in_the_singular(olga, texts):
    put(
        olga,
        ("queries.csv", b"_id,text\nq7,who\n"),
        ("my.qrels", b"q7 0 d1 1\n"),
        ("my.run", b"q7 Q0 d1 1 1.0 x\n"),
    )

    import_ready(olga)

    lines = [line for job in Job.objects.all() for line in job.result.get("made", ())]
    assert sorted(lines) == [
        "1 query",
        "qrels 'my' with 1 grade (1: 1)",
        "run 'my' of 1 query",
    ]


def test_queries_that_have_come_meanwhile_are_no_longer_missed(olga, texts):
    put(olga, ("my.qrels", b"q1 0 d1 1\n"), ("two.qrels", b"q1 0 d1 1\nq2 0 d1 1\n"))
    page = listed(olga)
    assert "Its query &#x27;q1&#x27; is not in this benchmark yet" in page
    assert "None of its 2 queries is in this benchmark yet" in page

    factories.query(texts, "q1")

    page = listed(olga)
    assert page.count("in this benchmark yet") == 1
    assert "1 of its 2 queries is not in this benchmark yet, such as &#x27;q2&#x27;" in page


@pytest.mark.parametrize(("agreed", "state"), [(1, "failed"), (2, "done")])
def test_api_takes_the_number_agreed_to(olga, texts, agreed, state):
    put(olga, ("bad.csv", b"qid,text\nq1,one\nq2,\nq3,\n"))
    upload = Upload.objects.get(is_waiting=True)

    answer = olga.post(
        f"/api/v1/benchmarks/texts/uploads/{upload.pk}/import/",
        {"leave_out": "records", "n_agreed": agreed},
        content_type="application/json",
    )
    jobs.run_queued()

    assert answer.status_code == 202
    assert Job.objects.latest("pk").state == state
    assert texts.queries.count() == (1 if state == "done" else 0)
