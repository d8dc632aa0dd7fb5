"""Files made to do harm: a problem in their row, and the site goes on."""

import io
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.collections.services import uploading
from benchmarks_app.common.services import reading_apart
from benchmarks_app.importing.services import importing
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Corpus, Job, Upload
from benchwright.detection import FileKind, Part
from benchwright.sandbox import FileTooCostlyError, ReaderEndedError, UnreadableFileError
from tests import factories

ROOT = Path(__file__).resolve().parents[3]
REAL_CALL = reading_apart.call
BOMB = """
import polars as pl, sys
pl.DataFrame({{"_id": ["d1"], "text": ["a" * {n}]}}).write_parquet(sys.argv[1])
"""


@pytest.fixture
def benchmark(db):
    corpus = Corpus.objects.create(name="texts", owner=factories.user("keeper"))
    return factories.benchmark(slug="texts", corpus=corpus)


@pytest.fixture
def owner(benchmark, client):
    owner = factories.member(benchmark, "olga", "owner")
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return owner


@pytest.fixture
def put(benchmark, owner, client):
    """Upload a file on the import page; returns the answer and the upload."""

    def put(name, content):
        file = SimpleUploadedFile(name, content)
        answer = client.post(reverse("import-new", args=[benchmark.slug]), {"files": file})
        return answer, Upload.objects.order_by("-pk").first()

    return put


@pytest.fixture(scope="module")
def bomb(tmp_path_factory):
    """A few kB of Parquet, one cell of 300 MB."""
    path = tmp_path_factory.mktemp("bomb") / "bomb.parquet"
    code = BOMB.format(n=300_000_000)
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    return path.read_bytes()


@pytest.fixture
def little_memory(settings):
    settings.READ_MEMORY_MB = 256


def resident_mb():
    status = Path("/proc/self/status").read_text().split("VmRSS:")[1]
    return int(status.split()[0]) / 1024


def page(client, benchmark):
    return client.get(reverse("import-new", args=[benchmark.slug]))


def preview_page(client, upload):
    return client.get(reverse("import-preview", args=[upload.benchmark.slug, upload.pk]))


def test_cell_larger_than_memory_is_a_problem_of_its_file(put, client, bomb, little_memory):
    assert len(bomb) < 60_000
    put("queries.tsv", b"q1\tone\n")
    before = resident_mb()

    answer, upload = put("bomb.parquet", bomb)
    listed = page(client, upload.benchmark).content.decode()
    looked_at = preview_page(client, upload).content.decode()

    assert answer.status_code == 302
    assert resident_mb() - before < 50
    text = "bomb.parquet: reading it took more than 256 MB of memory"
    assert text in listed
    assert text in looked_at
    assert f'aria-label="Remove {upload.name}"' in listed
    assert "READ_MEMORY_MB" in listed


def test_file_that_broke_its_reader_is_not_read_again(
    put, client, bomb, little_memory, monkeypatch
):
    _, upload = put("bomb.parquet", bomb)
    asked = []
    monkeypatch.setattr(reading_apart, "call", lambda *args, **options: asked.append(args))

    page(client, upload.benchmark)
    preview_page(client, upload)

    assert asked == []


@pytest.fixture
def reads(monkeypatch):
    """A function that lets readings end with an error, of which it returns the list."""

    def reads(error, *, when=lambda options: True):
        calls = []

        def call(*args, **options):
            calls.append(options)
            if when(options):
                raise error
            return REAL_CALL(*args, **options)

        monkeypatch.setattr(reading_apart, "call", call)
        return calls

    return reads


def costly(limit):
    return FileTooCostlyError(file="a.tsv", reason="took too much", limit=limit, advice="")


def test_file_over_a_limit_is_read_again_once_the_limit_is_another_one(put, client, reads):
    calls = reads(costly("memory"))
    _, upload = put("a.tsv", b"q1\tone\n")
    page(client, upload.benchmark)
    assert len(calls) == 1

    with override_settings(READ_MEMORY_MB=4096):
        page(client, upload.benchmark)

    assert len(calls) == 2


@pytest.mark.parametrize("is_ended", [True, False])
def test_file_whose_reader_was_ended_is_read_again_after_a_while(put, client, reads, is_ended):
    kind = ReaderEndedError if is_ended else UnreadableFileError
    calls = reads(kind(file="a.tsv", reason="ended"))
    _, upload = put("a.tsv", b"q1\tone\n")
    page(client, upload.benchmark)
    assert len(calls) == 1

    later = timezone.now() + uploading.KEPT_ENDED
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(uploading.timezone, "now", lambda: later)
        page(client, upload.benchmark)

    assert len(calls) == 1 + is_ended


@pytest.mark.parametrize("limit", ["silence", "memory"])
def test_small_file_that_a_page_has_no_time_for_is_read_by_a_job(put, client, reads, limit):
    calls = reads(costly(limit), when=lambda options: options["is_whole"] and not options["is_job"])

    _, upload = put("queries.tsv", b"qid\ttext\nq1\tone\n")
    assert Job.objects.count() == (limit == "silence")
    jobs.run_queued()
    listed = page(client, upload.benchmark).content.decode()
    looked_at = preview_page(client, upload)

    assert ("Ready:</span>" in listed) == (limit == "silence")
    assert ("took too much" in looked_at.content.decode()) == (limit == "memory")
    assert sum(options["is_whole"] and not options["is_job"] for options in calls) == 1


def test_upload_that_is_deleted_while_it_is_read_breaks_no_page(put, benchmark, owner, reads):
    reads(costly("memory"), when=lambda options: Upload.objects.all().delete())

    answer, _ = put("a.tsv", b"q1\tone\n")

    assert answer.status_code == 302


def test_removed_file_stands_in_no_row_and_others_go_on(put, client, bomb, little_memory):
    _, upload = put("bomb.parquet", bomb)

    client.post(reverse("import-remove", args=[upload.benchmark.slug, upload.pk]))
    put("queries.tsv", b"q1\tone\nq2\ttwo\n")
    listed = page(client, upload.benchmark).content.decode()

    assert "bomb.parquet</a>" not in listed
    assert "queries.tsv" in listed
    assert "Ready" in listed


def test_import_of_a_bomb_fails_and_leaves_nothing(benchmark, owner, bomb, little_memory):
    upload = factories.waiting_upload(benchmark, "bomb.parquet", bomb)
    part = Part("", FileKind.DOCUMENTS, {"id": "_id", "text": "text"})
    arguments = importing.import_arguments(upload=upload, parts=[part])
    before = resident_mb()

    job = jobs.run_here(benchmark=benchmark, user=owner, **arguments)

    assert job.state == Job.State.FAILED
    assert "bomb.parquet: reading it took more than 256 MB of memory" in job.error
    assert resident_mb() - before < 50
    assert benchmark.current_corpus_version is None
    upload.refresh_from_db()
    assert "256 MB" in upload.reading["broken"]


DEEP = {
    "deep.jsonl": b'{"_id": "d1", "text": ' + b"[" * 400_000 + b"]" * 400_000 + b"}\n",
    "objects.jsonl": b'{"a":' * 80_000 + b"1" + b"}" * 80_000 + b"\n",
    "list.json": b"[" * 400_000,
    "metadata.csv": b'_id,text,metadata\nd1,one,"' + b"[" * 100_000 + b'"\n',
}


@pytest.mark.parametrize("name", DEEP)
def test_json_nested_deep_breaks_no_page(put, client, name):
    answer, upload = put(name, DEEP[name])

    assert answer.status_code in (302, 422)
    assert page(client, upload.benchmark).status_code == 200
    assert preview_page(client, upload).status_code == 200


def test_panic_is_a_problem_of_its_file(put, client, monkeypatch):
    content = io.BytesIO()
    pl.DataFrame({"_id": ["d1"], "text": [b"\xff\xfe"]}).write_parquet(content)

    answer, upload = put("binary.parquet", content.getvalue())

    assert answer.status_code == 302
    assert page(client, upload.benchmark).status_code == 200
    assert preview_page(client, upload).status_code == 200


def test_each_error_of_a_list_has_its_line_on_pages(put, client):
    answer, upload = put("list.json", b'["a", "b"]')

    assert answer.status_code == 302
    for html in (page(client, upload.benchmark), preview_page(client, upload)):
        assert "expected an object<br>list.json:2: record 2" in html.content.decode()


def test_bytes_in_the_place_of_texts_are_told_of_their_row(put):
    content = io.BytesIO()
    pl.DataFrame({"qid": [b"q1"], "query": [b"who"]}).write_parquet(content)

    _, upload = put("binary.parquet", content.getvalue())

    assert "broken" not in upload.reading


def test_two_columns_with_a_decimal_grade_are_looked_at(put, client):
    answer, upload = put("pairs.tsv", b"q1\t1.0\nq2\t0.0\nq3\t1.0\n")

    assert answer.status_code == 302
    assert preview_page(client, upload).status_code == 200


def test_site_does_not_load_a_parser_for_what_it_previews(tmp_path):
    """The web process stays without polars, which only its readers need."""
    code = f"""
import os, sys
os.environ["BENCHWRIGHT_DATA"] = {str(tmp_path)!r}
os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks_app.settings"
os.environ["SECRET_KEY"] = "only-for-tests-0123456789-abcdefghijklmnopqrstuvwxyz"
import django; django.setup()
from pathlib import Path
from benchwright.uploads import Place, look_at
from benchmarks_app.common.services import reading_apart
path = Path({str(tmp_path)!r}, "corpus.parquet")
path.write_bytes(sys.stdin.buffer.read())
looks = reading_apart.call(look_at, Place(path, path.name), None, file=path.name,
    has_passages=False, is_short=False, is_whole=True)
print(looks.looks[0].n_rows_read, *sorted({{"polars", "pyarrow", "PIL"}} & set(sys.modules)))
"""
    content = io.BytesIO()
    pl.DataFrame({"_id": ["d1", "d2"], "text": ["one", "two"]}).write_parquet(content)
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=content.getvalue(),
        capture_output=True,
        cwd=ROOT,
        check=False,
    )

    assert done.stdout.decode().split() == ["2"], done.stderr.decode()
