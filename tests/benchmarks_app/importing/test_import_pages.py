"""The import page: files put down, looked at, corrected, imported."""

import gzip
import io
import json
import zipfile
from hashlib import sha256

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchmarks_app.common.services import reading_apart
from benchmarks_app.importing.services import reading_uploads
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job, Query, Upload
from benchwright.sandbox import ReadersBusyError
from tests import factories
from tests.open_pages import misnamed
from tests.tokens import text_without_tokens

CORPUS = b'{"_id": "d1", "title": "One", "text": "first", "metadata": {"year": 1999}}\n'
TABLE = b"""doc,heading,words,source
d1,One,first text,web
d2,Two,second text,print
"""
QUERIES = b"qid,text\nq1,first?\nq2,second?\n"
TREC = b"q1 0 d1 2\nq2 0 d1 -2\nq2 0 d2 7\n"


def put(client, *files: tuple[str, bytes], **more):
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return client.post(reverse("import-new", args=["texts"]), {"files": sent, **more})


def address(upload: Upload) -> str:
    return reverse("import-preview", args=["texts", upload.pk])


def body(response) -> str:
    return response.content.decode()


def imported(client, upload: Upload, **data) -> Job:
    response = client.post(address(upload), {"import": "1", **data})
    assert response.status_code == 302, body(response)
    jobs.run_queued()
    return Job.objects.latest("pk")


def test_one_file_leads_to_its_preview_and_nothing_is_imported_yet(olga, texts):
    response = put(olga, ("corpus.jsonl", CORPUS))

    upload = Upload.objects.get()
    assert response.headers["Location"] == address(upload)
    page = body(olga.get(address(upload)))
    assert "Nothing is imported yet" in page
    assert "<td" in page
    assert "first" in page
    assert not Job.objects.exists()
    assert texts.current_corpus_version is None


def test_half_a_character_in_a_file_breaks_neither_page_nor_answer(olga, texts):
    put(olga, ("queries.jsonl", b'{"_id": "q1", "text": "a", "\xed\xa0\x80": "\\ud800"}\n'))
    upload = Upload.objects.get()

    assert olga.get(address(upload)).status_code == 200
    assert olga.get(f"/api/v1/benchmarks/texts/uploads/{upload.pk}/").status_code == 200


def test_a_list_of_no_parts_is_refused_by_the_api(olga, texts):
    put(olga, ("queries.csv", b"id,text\nq1,one\n"))
    upload = Upload.objects.get()
    address = f"/api/v1/benchmarks/texts/uploads/{upload.pk}/"

    answer = olga.post(f"{address}import/", {"parts": []}, content_type="application/json")
    assert answer.status_code == 400
    assert "may not be empty" in str(answer.json()["errors"]["parts"])

    (look,) = olga.get(f"{address}?kind=beir").json()["files"]
    assert look["error"].startswith("queries.csv is one file.")
    (unknown,) = olga.get(f"{address}?kind=odd").json()["errors"]["kind"]
    assert unknown.startswith("Choose one of beir, corpus, ")


def test_what_was_looked_at_is_imported_and_waits_no_longer(olga, texts):
    put(olga, ("corpus.jsonl", CORPUS))

    job = imported(olga, Upload.objects.get(), shown_metadata=["year"])

    assert job.state == Job.State.DONE, job.error
    assert texts.current_corpus_version.n_documents == 1
    texts.refresh_from_db()
    assert texts.shown_metadata == ["year"]
    assert not Upload.objects.get().is_waiting
    assert olga.get(address(Upload.objects.get())).status_code == 404


def test_columns_of_unknown_names_are_mapped_by_hand(olga, texts):
    put(olga, ("things.csv", TABLE))
    upload = Upload.objects.get()

    first = olga.get(address(upload))
    chosen = olga.post(address(upload), {"look": "1", "p0-was": "", "p0-kind": "documents"})

    assert "choose the kind" in body(first)
    assert "no column is chosen for the document id" in body(chosen)
    mapping = {"p0-map_id": "doc", "p0-map_title": "heading", "p0-map_text": "words"}
    job = imported(olga, upload, **{"p0-was": "documents", "p0-kind": "documents"}, **mapping)
    assert job.state == Job.State.DONE, job.error
    from benchmarks_app.common.selectors.reading import benchmark_documents

    result = benchmark_documents(texts, ["d2"])["d2"]
    assert (result.title, result.text, result.metadata) == (
        "Two",
        "second text",
        {"source": "print"},
    )


def test_a_wrong_mapping_says_so_in_the_preview_and_imports_nothing(olga):
    put(olga, ("run-of-mine.csv", b"query_id,docid,score,note\nq1,d1,0.5,good\nq1,d2,0.4,bad\n"))
    upload = Upload.objects.get()
    wrong = {"p0-map_query": "query_id", "p0-map_document": "docid", "p0-map_score": "note"}

    response = olga.post(
        address(upload), {"import": "1", "p0-was": "run-table", "p0-kind": "run-table", **wrong}
    )

    assert response.status_code == 422
    assert "Nothing was imported: see below what is wrong." in body(response)
    assert "score (column &#x27;note&#x27;) is &#x27;good&#x27;; expected a number" in body(
        response
    )
    assert misnamed(body(response)) == []
    assert not Job.objects.exists()


def test_the_kind_can_be_corrected_by_hand(olga, texts):
    put(olga, ("short.tsv", b"a\tfirst words\nb\tother words\n"))
    upload = Upload.objects.get()

    page = body(olga.get(address(upload)))
    job = imported(olga, upload, **{"p0-was": "queries", "p0-kind": "documents"})

    assert "are these queries?" in page
    assert job.state == Job.State.DONE, job.error
    assert texts.current_corpus_version.n_documents == 2
    assert not Query.objects.exists()


def test_grades_off_the_scale_have_an_answer_before_the_import(olga, texts):
    for qid in ("q1", "q2"):
        factories.query(texts, qid)
    put(olga, ("official.qrels", TREC))
    upload = Upload.objects.get()

    page = body(olga.get(address(upload)))
    refused = olga.post(address(upload), {"import": "1", "grade_-2": "pooled"})

    assert "Grade -2 (1 row)" in page
    assert "pooled, not judged" in page
    assert "It is not on this benchmark's scale." in page
    assert refused.status_code == 422
    job = imported(olga, upload, **{"grade_-2": "0", "grade_7": "3", "name": "ours"})
    assert job.state == Job.State.DONE, job.problems
    record = texts.qrel_sets.get(name="ours")
    assert sorted(record.qrels.values_list("docid", "grade")) == [("d1", 0), ("d1", 2), ("d2", 3)]


def test_a_scale_that_runs_the_other_way_is_turned_in_the_preview(olga, texts):
    factories.query(texts, "q1")
    put(olga, ("cranqrel", b"q1 1 1\nq1 2 2\nq1 3 3\nq1 4 -1\n"))

    answers = {"grade_1": "3", "grade_2": "2", "grade_3": "1", "grade_-1": "0"}
    job = imported(olga, Upload.objects.get(), **answers)

    assert job.state == Job.State.DONE, job.problems
    rows = texts.qrel_sets.get().qrels.order_by("docid").values_list("docid", "grade")
    assert list(rows) == [("1", 3), ("2", 2), ("3", 1), ("4", 0)]


def test_grades_below_0_may_stay_pooled_and_not_judged(olga, texts):
    for qid in ("q1", "q2"):
        factories.query(texts, qid)
    put(olga, ("spam.qrels", b"q1 0 d1 2\nq2 0 d1 -2\n"))

    job = imported(olga, Upload.objects.get(), **{"grade_-2": "pooled"})

    assert "1 pair with a grade below 0 is kept as pooled, not judged." in job.result["notes"]
    assert texts.qrel_sets.get().qrels.get(grade__lt=0).docid == "d1"


def test_files_that_wait_together_are_imported_as_one_in_their_order(olga, texts):
    put(
        olga,
        ("a.qrels", b"q1 0 d1 2\n"),
        ("b-queries.csv", QUERIES),
        ("corpus.jsonl", CORPUS),
        ("z.run", b"q1 Q0 d1 1 2.5 s\n"),
    )

    page = body(olga.get(reverse("import-new", args=["texts"])))
    response = olga.post(reverse("import-all", args=["texts"]))
    jobs.run_queued()

    assert page.count("Ready:</span>") == 4
    job = Job.objects.get()
    assert response.headers["Location"] == job.get_absolute_url()
    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert texts.queries.count() == 2
    assert texts.runs.get().name == "z"
    assert texts.qrel_sets.get().name == "a"
    assert not Upload.objects.filter(is_waiting=True).exists()


def test_files_are_read_to_their_ends_before_they_are_ready_and_others_need_not_wait(olga, texts):
    good = b"".join(b"q1 Q0 d%d 1 %d s\n" % (n, 900 - n) for n in range(500))
    put(olga, ("b-queries.csv", QUERIES), ("z.run", good + b"q1 Q0 x 501 n/a s\n"))

    page = body(olga.get(reverse("import-new", args=["texts"])))
    result = body(olga.get(address(Upload.objects.get(name="z.run"))))
    olga.post(reverse("import-all", args=["texts"]))
    jobs.run_queued()

    assert page.count("Ready:</span>") == 1
    assert "Needs a decision:</span>" in page
    assert "z.run:501" in result
    assert Job.objects.get().state == Job.State.DONE
    assert Query.objects.count() == 2
    assert Upload.objects.get(is_waiting=True).name == "z.run"


def test_bad_records_can_be_left_out_on_the_page_and_are_counted_there(olga, texts):
    rows = b"".join(b"q%d,%s\n" % (n, b"" if n % 20 == 7 else b"words") for n in range(300))
    put(olga, ("queries.csv", b"qid,text\n" + rows))
    upload = Upload.objects.get()

    page = body(olga.get(address(upload)))
    refused = olga.post(address(upload), {"import": "1"})
    job = imported(olga, upload, leave_out="records")

    assert "15 records cannot be taken; these are the first" in page
    assert "Leave out the bad records" in page
    assert refused.status_code == 422
    assert job.state == Job.State.DONE, job.error
    assert "15 bad records were left out. The first 15 problems:" not in job.result["notes"]
    assert "15 bad records were left out." in job.result["notes"]
    assert texts.queries.count() == 285


def test_a_large_file_is_read_to_its_end_by_a_job_before_it_is_ready(olga, texts, monkeypatch):
    monkeypatch.setattr(reading_uploads, "READ_AT_ONCE", 50)
    rows = b"".join(b"q%d,words\n" % n for n in range(400))
    put(olga, ("queries.csv", b"qid,text\n" + rows), ("bad.csv", b"qid,text\n" + rows + b"q,\n"))
    address_of = reverse("import-new", args=["texts"])

    before = body(olga.get(address_of))
    olga.post(reverse("import-all", args=["texts"]))  # no second job for either
    jobs.run_queued()
    after = body(olga.get(address_of))
    page = body(olga.get(address(Upload.objects.get(name="bad.csv"))))

    assert before.count("Being checked:</span>") == 2
    assert after.count("Ready:</span>") == 1
    assert after.count("Needs a decision:</span>") == 1
    assert "bad.csv:402" in page
    assert [job.state for job in Job.objects.all()] == [Job.State.DONE] * 2


def test_file_that_no_reader_was_free_for_is_not_ready_and_is_read_later(olga, texts, monkeypatch):
    def busy(*args, file, **options):
        raise ReadersBusyError(file=file, seconds=30)

    with monkeypatch.context() as patched:
        patched.setattr(reading_apart, "call", busy)
        put(olga, ("b-queries.csv", QUERIES + b"q9,\n"))
    before = body(olga.get(reverse("import-new", args=["texts"])))
    olga.post(reverse("import-all", args=["texts"]))
    after = body(olga.get(reverse("import-new", args=["texts"])))

    assert "Being checked:</span>" in before
    assert "Needs a decision:</span>" in after


def test_file_that_cannot_be_read_to_its_end_is_not_ready(olga, texts):
    rows = "".join(f"q{n},{sha256(b'%d' % n).hexdigest()}\n" for n in range(20_000)).encode()
    put(olga, ("cut.csv.gz", gzip.compress(b"qid,text\n" + rows)[:-1000]))

    page = body(olga.get(reverse("import-new", args=["texts"])))

    assert "Ready:</span>" not in page
    assert "Cannot be read:</span>" in page
    assert (
        Upload.objects.get()
        .reading["problems"][0]["text"]
        .startswith("the gzip file ends too early")
    )


def test_files_that_waited_before_they_were_read_are_read_when_they_are_asked_for(olga, texts):
    put(olga, ("b-queries.csv", QUERIES))
    Upload.objects.update(reading={})

    olga.post(reverse("import-all", args=["texts"]))
    jobs.run_queued()

    assert Query.objects.count() == 2


def test_a_dropped_folder_is_one_collection(olga, texts):
    paths = ["toy/corpus.jsonl", "toy/queries.jsonl", "toy/qrels/test.tsv"]
    qrels = b"query-id\tcorpus-id\tscore\nq1\td1\t2\n"
    files = [("corpus.jsonl", CORPUS), ("queries.jsonl", b'{"_id": "q1", "text": "?!"}\n')]

    response = put(olga, *files, ("test.tsv", qrels), paths=paths)

    upload = Upload.objects.get()
    assert upload.name == "toy.zip"
    assert response.headers["Location"] == address(upload)
    job = imported(olga, upload)
    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert texts.queries.get().family.split == "test"


def test_the_same_bytes_wait_once_and_are_recognised_once_imported(olga):
    put(olga, ("corpus.jsonl", CORPUS))
    put(olga, ("copy.jsonl", CORPUS))
    imported(olga, Upload.objects.get())

    response = put(olga, ("third.jsonl", CORPUS))

    assert response.status_code == 422
    assert "was imported here before" in body(response)


def test_no_file_is_an_error_that_says_so(olga):
    response = olga.post(reverse("import-new", args=["texts"]), {})

    assert response.status_code == 422
    assert "Choose a file, or drop one here." in body(response)


def test_an_error_stands_before_the_files_that_wait(olga):
    put(olga, ("corpus.jsonl", CORPUS))

    page = body(olga.post(reverse("import-new", args=["texts"]), {}))

    assert page.index("Choose a file, or drop one here.") < page.index("Waiting to be imported")


def test_an_empty_file_is_named_and_holds_up_no_other(olga):
    response = put(olga, ("empty.run", b""), ("corpus.jsonl", CORPUS))

    assert response.status_code == 422
    assert "empty.run is empty; choose the file again." in body(response)
    assert Upload.objects.get().name == "corpus.jsonl"


def test_an_empty_file_of_a_folder_does_not_keep_the_folder_out(olga):
    sent = [SimpleUploadedFile(".keep", b""), SimpleUploadedFile("corpus.jsonl", CORPUS)]
    paths = ["to\0y/.keep", "to\0y/corpus.jsonl"]

    response = olga.post(
        reverse("import-new", args=["texts"]), {"folder": sent, "folder_paths": paths}
    )

    upload = Upload.objects.get()
    # Nor a NUL in its name, which no database takes.
    assert (response.status_code, upload.name) == (302, "to\N{REPLACEMENT CHARACTER}y.zip")
    assert imported(olga, upload).state == Job.State.DONE


def test_a_file_can_be_taken_away_again(olga):
    put(olga, ("corpus.jsonl", CORPUS))

    olga.post(reverse("import-remove", args=["texts", Upload.objects.get().pk]))

    assert "corpus.jsonl" in body(olga.get(reverse("import-new", args=["texts"])))  # the message
    assert olga.get(address(Upload.objects.get())).status_code == 404


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("sheet.csv", "\ufeffqid,text\n".encode("utf-16-le")[:-1], "is read as UTF-16"),
        ("paper.pdf", b"%PDF-1.7 ...", "is a PDF. Write its documents as JSON lines"),
        ("broken.zip", b"PK\x03\x04 and no more", "the zip is damaged"),
        ("cut.jsonl.gz", b"\x1f\x8b\x08\x00 cut", "the gzip file"),
        ("broken.parquet", b"PAR1 and no footer", "the Parquet file is damaged or cut short"),
    ],
)
def test_what_cannot_be_read_says_what_it_is(olga, name, content, words):
    put(olga, (name, content))

    response = olga.get(address(Upload.objects.get()))

    assert response.status_code == 200
    assert words in body(response)
    assert 'name="import"' not in body(response)


def test_a_spreadsheet_is_told_from_a_collection(olga):
    sheet = io.BytesIO()
    with zipfile.ZipFile(sheet, "w") as archive:
        archive.writestr("[Content_Types].xml", "<x/>")
        archive.writestr("xl/workbook.xml", "<x/>")
    put(olga, ("grades.xlsx", sheet.getvalue()))

    page = body(olga.get(address(Upload.objects.get())))

    assert "a spreadsheet that cannot be read" in page
    assert "save a sheet as xlsx or CSV UTF-8." in page


def test_rows_are_shown_escaped_and_no_more_than_twenty(olga):
    lines = [json.dumps({"_id": f"d{n}", "title": "<b>x</b>", "text": "t"}) for n in range(30)]
    put(olga, ("corpus.jsonl", "\n".join(lines).encode()))

    page = text_without_tokens(olga.get(address(Upload.objects.get())))

    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "<b>x</b>" not in page
    assert "d19" in page
    assert "d20" not in page


def test_what_is_sent_with_nul_is_taken_without_it(olga, texts):
    put(olga, ("queries.csv", QUERIES))
    fields = {"p0-kind": "queries", "p0-was": "queries", "p0-map_id": "qid\0", "p0-lang": "d\0e"}

    job = imported(olga, Upload.objects.get(), **fields, **{"p0-map_text": "text"})

    assert job.state == Job.State.DONE, job.error
    assert {*texts.queries.values_list("lang", flat=True)} == {"de"}


# --- the API -------------------------------------------------------------------------------------


def api(name: str, *args) -> str:
    return reverse(f"api:{name}", args=["texts", *args])


def test_the_api_puts_a_file_down_shows_and_imports_it(olga, texts):
    sent = {"file": SimpleUploadedFile("things.csv", TABLE)}
    put_down = olga.post(api("upload-list"), sent)
    pk = put_down.json()["id"]
    answer = olga.get(api("upload-detail", pk), {"kind": "documents"}).json()
    fields = {"kind": "documents", "mapping": {"id": "doc", "title": "heading", "text": "words"}}
    started = olga.post(
        api("upload-import", pk), json.dumps(fields), content_type="application/json"
    )
    jobs.run_queued()

    assert put_down.status_code == 201
    (file,) = answer["files"]
    assert file["columns"] == ["doc", "heading", "words", "source"]
    assert file["rows"][0] == ["d1", "One", "first text", "web"]
    assert "no column is chosen for the document id" in file["error"]
    assert started.status_code == 202
    assert Job.objects.get(pk=started.json()["id"]).state == Job.State.DONE
    assert texts.current_corpus_version.n_documents == 2


def test_the_api_refuses_what_lacks_a_column_with_a_stable_code(olga):
    olga.post(api("upload-list"), {"file": SimpleUploadedFile("things.csv", TABLE)})
    body = json.dumps({"kind": "documents"})
    url = api("upload-import", Upload.objects.get().pk)

    olga.post(url, body, content_type="application/json")
    jobs.run_queued()

    job = Job.objects.get()
    assert job.state == Job.State.FAILED
    assert "no column is chosen for the document id" in job.error


def test_columns_of_a_format_that_names_them_itself_are_not_chosen(olga):
    put(olga, ("corpus.jsonl", b'{"_id": "d1", "text": "short", "abstract": "long"}\n'))
    url = api("upload-import", Upload.objects.get().pk)
    mapping = {"mapping": {"id": "_id", "text": "abstract"}}

    refused = olga.post(url, json.dumps(mapping), content_type="application/json")
    as_table = json.dumps({**mapping, "kind": "documents"})

    assert (refused.status_code, refused.json()["code"]) == (422, "column-mapping")
    assert "Say that it is documents" in refused.json()["detail"]
    assert olga.post(url, as_table, content_type="application/json").status_code == 202


@pytest.mark.parametrize("name", ["docid", "ïd"])
@pytest.mark.parametrize("is_part", [True, False])
def test_the_api_refuses_a_field_that_there_is_not(olga, name, is_part):
    put(olga, ("things.csv", TABLE))
    body: dict = {"kind": "documents", "mapping": {name: "doc"}}
    body = {"parts": [{"member": "a.csv", **body}]} if is_part else body
    url = api("upload-import", Upload.objects.get().pk)

    answer = olga.post(url, json.dumps(body), content_type="application/json")

    assert (answer.status_code, answer.json()["code"]) == (422, "column-mapping")
    assert f"no field {name!a}; there are clicks, " in answer.json()["detail"]


def test_a_column_left_over_is_asked_for_and_the_answer_is_taken(olga, texts):
    factories.query(texts, "q1")
    put(olga, ("stars.csv", b"query_id,doc_id,stars\nq1,d1,3\nq1,d2,0\n"))
    upload = Upload.objects.get()

    page = body(olga.get(address(upload)))
    listed = body(olga.get(reverse("import-new", args=["texts"])))
    refused = olga.post(address(upload), {"import": "1"})
    fields = {"p0-map_query": "query_id", "p0-map_document": "doc_id", "p0-map_grade": "stars"}
    job = imported(olga, upload, **{"p0-was": "qrel-table", "p0-kind": "qrel-table"}, **fields)

    assert "no column is chosen for the grade: is it stars?" in page
    assert "none: every row is relevant (grade 1)" in page
    assert "Ready:</span>" not in listed
    assert refused.status_code == 422
    assert job.state == Job.State.DONE, job.error
    assert set(texts.qrel_sets.get().qrels.values_list("docid", "grade")) == {("d1", 3), ("d2", 0)}


def test_grades_of_1_0_in_three_columns_are_shown_and_taken(olga, texts):
    factories.query(texts, "q1")
    put(olga, ("three.txt", b"q1 d1 1.0\nq1 d2 0.0\n"))
    upload = Upload.objects.get()

    assert olga.get(address(upload)).status_code == 200
    assert imported(olga, upload).state == Job.State.DONE
    assert set(texts.qrel_sets.get().qrels.values_list("docid", "grade")) == {("d1", 1), ("d2", 0)}


def test_the_api_asks_for_the_grade_and_takes_that_every_row_is_relevant(olga, texts):
    factories.query(texts, "q1")
    content = b"query_id,doc_id,stars\nq1,d1,3\n"
    pk = olga.post(api("upload-list"), {"file": SimpleUploadedFile("s.csv", content)}).json()["id"]

    answer = olga.get(api("upload-detail", pk)).json()
    body = json.dumps({"mapping": {"grade": "every row is relevant"}})
    started = olga.post(api("upload-import", pk), body, content_type="application/json")
    jobs.run_queued()

    assert "is it stars?" in answer["files"][0]["error"]
    assert not answer["is_ready"]
    assert started.status_code == 202
    assert texts.qrel_sets.get().qrels.get().grade == 1
