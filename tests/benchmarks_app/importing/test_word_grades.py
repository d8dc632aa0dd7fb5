"""Grades that are words: a person says what each is, at every door, and nothing is guessed."""

import html
import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks_app.importing.services.waiting_files import waiting_files
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job, Qrel, QrelSet, Query, Upload
from tests import factories

ROWS = [("d1", "E"), ("d2", "S"), ("d3", "C"), ("d4", "I"), ("d5", "E")]
ESCI = "query,query_id,product_id,esci_label\n" + "".join(
    f"green tea,q1,{docid},{word}\n" for docid, word in ROWS
)
OWN = 'query_id,doc_id,label\nq1,d1,so\nq1,d2,"so, so"\nq1,d3,never = no\n'
WORDS_OF_ESCI = "grades are words: 'C' (1 row), 'E' (2 rows), 'I' (1 row), 'S' (1 row). Say what"


def put(client, name: str, content: str) -> Upload:
    sent = SimpleUploadedFile(name, content.encode())
    client.post(reverse("import-new", args=["texts"]), {"files": [sent]})
    return Upload.objects.get(name=name, is_waiting=True)


def chosen(page: str) -> dict[str, str]:
    """{name of a field of a grade: what it is as the page comes}."""
    fields = re.findall(r'<select name="(grade_[^"]+)"(.*?)</select>', page, re.DOTALL)
    options = {
        html.unescape(name): re.findall(r'value="([^"]*)"( selected)?', rest)
        for name, rest in fields
    }
    return {
        name: next((value for value, is_chosen in values if is_chosen), values[0][0])
        for name, values in options.items()
    }


def grades() -> dict[str, int]:
    return dict(Qrel.objects.values_list("docid", "grade"))


def test_the_list_asks_for_each_word_and_suggests_what_is_known(olga, texts):
    upload = put(olga, "esci.csv", ESCI)

    page = html.unescape(olga.get(reverse("import-new", args=["texts"])).content.decode())
    [file] = waiting_files(texts)

    assert file.state == "check"
    assert "<strong>Grades 'C', 'E', 'I' and 'S'</strong> are not on" in " ".join(page.split())
    suggested = {"grade_C": "1", "grade_E": "3", "grade_I": "0", "grade_S": "2"}
    assert chosen(page) == suggested

    decide = reverse("import-decide", args=["texts", upload.pk])
    olga.post(decide, {"act": "check", **suggested, "grade_S": "3"})
    assert [waiting_file.state for waiting_file in waiting_files(texts)] == ["ready"]
    olga.post(reverse("import-all", args=["texts"]))
    jobs.run_queued()

    job = Job.objects.filter(kind="import-file").get()
    assert job.state == Job.State.DONE, (job.error, job.problems)
    # A second way: the rows of the file by a table that this test writes down.
    assert grades() == {docid: {"E": 3, "S": 3, "C": 1, "I": 0}[word] for docid, word in ROWS}
    assert "Words of the file were read as C=1, E=3, I=0, S=3." in job.result["notes"]
    # It is stored with the import.
    assert job.parameters["of"] if "of" in job.parameters else job.parameters["grade_map"]
    assert QrelSet.objects.get().parameters["origins"] == {"0": ["I"], "1": ["C"], "3": ["E", "S"]}


def test_the_page_of_a_file_asks_and_imports_what_was_chosen(olga, texts):
    factories.query(texts, "q1", text="green tea")
    upload = put(olga, "own.csv", OWN)
    address = reverse("import-preview", args=["texts", upload.pk])

    page = olga.get(address).content.decode()
    fields = chosen(page)

    # None of these words is known: none has a grade until somebody chooses it.
    assert sorted(fields.values()) == ["", "", ""]
    assert "Grade so, so (1 row)" in page
    part = {"p0-kind": "qrel-table", "p0-was": "qrel-table", "p0-had_header": "1", "p0-header": "1"}
    part |= {"p0-map_query": "query_id", "p0-map_document": "doc_id", "p0-map_grade": "label"}
    refused = olga.post(address, {"import": "1", **part, **fields})
    assert (refused.status_code, Job.objects.filter(kind="import-file").count()) == (422, 0)

    by_word = dict(zip(sorted(fields), ["-1", "2", "1"], strict=True))  # never = no, so, so so
    olga.post(address, {"import": "1", **part, **by_word})
    jobs.run_queued()

    job = Job.objects.get(kind="import-file")
    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert grades() == {"d1": 2, "d2": 1, "d3": -1}
    assert QrelSet.objects.get().n_qrels == 3


@pytest.mark.parametrize("grade_map", ["", "E=3, S=2"])
def test_by_api_words_that_nobody_mapped_are_all_named_and_nothing_stays(olga, grade_map):
    upload = put(olga, "esci.csv", ESCI)
    address = f"/api/v1/benchmarks/texts/uploads/{upload.pk}/"

    answer = olga.get(address).json()
    assert answer["files"][0]["grades"] == {"C": 1, "E": 2, "I": 1, "S": 1}
    assert answer["warnings"] == [
        f"{WORDS_OF_ESCI} each is here: on the import page, or as a grade map such as "
        "'C=1, E=3, I=0, S=2'."
    ]
    body = json.dumps({"grade_map": grade_map})
    olga.post(f"{address}import/", body, content_type="application/json")
    jobs.run_queued()

    job = Job.objects.get(kind="import-file")
    assert job.state == Job.State.FAILED
    [problem] = job.problems
    unmapped = "'C' (1 row), 'I' (1 row)" if grade_map else WORDS_OF_ESCI
    assert unmapped in problem["text"]
    assert (problem["file"], problem["line"]) == ("esci.csv", 4 if grade_map else 2)
    assert not (QrelSet.objects.exists() or Qrel.objects.exists() or Query.objects.exists())


def test_by_command_words_are_mapped_as_numbers_are(olga, texts, tmp_path):
    path = tmp_path / "esci.csv"
    path.write_text(ESCI)

    with pytest.raises(CommandError, match=r"'C=1, E=3, I=0, S=2'"):
        call_command("import_file", "texts", path)
    call_command("import_file", "texts", path, grade_map="E=3,S=2,C=1,I=0")

    assert grades() == {"d1": 3, "d2": 2, "d3": 1, "d4": 0, "d5": 3}
