"""What documents are that a set of qrels does not list: asked at import, kept, read back."""

import io
import zipfile

import pytest
from django.core.management import call_command

from benchmarks_app.common.selectors.reading import release_file_path
from benchmarks_app.models import QrelSet
from benchmarks_app.releases.services import exporting
from benchwright.exports import BEIR, exporter_of
from benchwright.formats.errors import UnlistedError
from tests import factories

pytestmark = pytest.mark.django_db

QRELS = b"q1 0 d1 1\nq1 0 d2 2\nq2 0 d3 1\n"


@pytest.fixture
def asked(benchmark):
    for qid in ("q1", "q2"):
        factories.query(benchmark, qid)
    return benchmark


def test_set_that_nobody_asked_about_is_unknown(asked):
    factories.done(factories.imported(asked, QRELS, "a.qrels"))

    assert QrelSet.objects.get().unlisted == "unknown"


def test_what_is_said_at_import_is_kept_and_told(asked):
    job = factories.done(factories.imported(asked, QRELS, "a.qrels", unlisted="not-relevant"))

    assert QrelSet.objects.get().unlisted == "not-relevant"
    assert any("do not list count as judged not relevant" in note for note in job.result["notes"])


def test_another_word_is_refused_with_those_there_are(asked):
    with pytest.raises(UnlistedError, match=r"'no' does not say .* expected unknown, not-relevant"):
        factories.imported(asked, QRELS, "a.qrels", unlisted="no")


@pytest.mark.parametrize("name", ["beir", "hub", "trec"])
def test_our_own_export_is_read_back(name):
    tiny = factories.tiny_benchmark()
    QrelSet.objects.update(unlisted="not-relevant")
    release = factories.release(tiny.qrel_sets.get(), "1.0.0")
    zipped = b"".join(exporting.export_zip(release, exporter_of(name)))
    other = factories.texts_benchmark("other")

    if name == "trec":
        queries = release_file_path(release, "queries.jsonl").read_bytes()
        factories.done(factories.imported(other, queries, "queries.jsonl"))
        zipped = without(zipped, "topics.txt", "queries.tsv", "qrels.trec")
    factories.done(factories.imported(other, zipped, "again.zip"))

    assert other.qrel_sets.get().unlisted == "not-relevant"


def without(zipped, *names):
    """The archive without these files, as somebody would pack it who has them already."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(zipped)) as original, zipfile.ZipFile(packed, "w") as repacked:
        for member in original.namelist():
            if not member.endswith(tuple(f"/{name}" for name in names)):
                repacked.writestr(member, original.read(member))
    return packed.getvalue()


def test_what_is_said_goes_before_what_the_export_says():
    tiny = factories.tiny_benchmark()
    QrelSet.objects.update(unlisted="not-relevant")
    release = factories.release(tiny.qrel_sets.get(), "1.0.0")
    other = factories.texts_benchmark("other")

    zipped = b"".join(exporting.export_zip(release, BEIR))
    factories.done(factories.imported(other, zipped, "again.zip", unlisted="unknown"))

    assert other.qrel_sets.get().unlisted == "unknown"


@pytest.mark.parametrize("command", ["import_file", "import_trec"])
def test_commands_take_it(asked, owner, tmp_path, command):
    path = tmp_path / "a.qrels"
    path.write_bytes(QRELS)
    files = [path] if command == "import_file" else []
    named = {"qrels": path} if command == "import_trec" else {}

    call_command(command, asked.slug, *files, unlisted="not-relevant", verbosity=0, **named)

    assert QrelSet.objects.get().unlisted == "not-relevant"
