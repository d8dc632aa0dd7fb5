"""Exports of releases and runs: from the page, the command line and the API; small and large."""

import hashlib
import io
import json
import sys
import zipfile
from errno import ENOSPC
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, Benchmark, QrelSet, Query, Release
from benchmarks_app.releases.selectors import release_source
from benchmarks_app.releases.services import exporting
from benchwright.exports import BEIR, EXPORTERS, exporter_of
from benchwright.exports.errors import ExportNotReadyError
from benchwright.linting.folders import lint_folder
from benchwright.releases.canonical import content_parts
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def tiny() -> Benchmark:
    bench = factories.tiny_benchmark()
    factories.member(bench, "olga", "owner")
    factories.member(bench, "vi", "viewer")
    return bench


@pytest.fixture
def release(tiny) -> Release:
    return factories.release(tiny.qrel_sets.get(), "1.0.0", by=factories.user("olga"))


def signed_in(name: str) -> Client:
    client = Client()
    client.force_login(factories.user(name), backend="django.contrib.auth.backends.ModelBackend")
    return client


def body(response: Any) -> bytes:
    return b"".join(response.streaming_content)


def test_page_offers_each_format_with_what_it_loses(release):
    page = signed_in("vi").get("/b/tiny/releases/1.0.0/export/").content.decode()

    for name, exporter in EXPORTERS.items():
        assert f'id="{name}"' in page
        assert f"/b/tiny/releases/1.0.0/export/{name}.zip" in page
        for line in exporter.loses or ("nothing lost",):
            assert line.replace("'", "&#x27;") in page


def test_page_api_and_command_give_the_same_bytes(release, tmp_path):
    client = signed_in("vi")
    for name in ("beir", "hub", "trec"):
        path = tmp_path / f"{name}.zip"
        call_command("export_release", "tiny", "1.0.0", format=name, output=path, verbosity=0)

        of_page = client.get(f"/b/tiny/releases/1.0.0/export/{name}.zip")
        of_api = client.get(f"/api/v1/benchmarks/tiny/releases/1.0.0/exports/{name}/")

        assert body(of_page) == path.read_bytes() == body(of_api)
        stem = f"tiny-1.0.0{EXPORTERS[name].suffix}"
        assert of_page.headers["Content-Disposition"] == f'attachment; filename="{stem}.zip"'


def test_old_address_of_the_beir_zip_still_works(release):
    old = signed_in("vi").get("/b/tiny/releases/1.0.0/beir.zip")

    assert body(old) == b"".join(exporting.export_zip(release, BEIR))


def test_folder_of_the_command_is_what_the_zip_holds(release, tmp_path):
    call_command(
        "export_release", "tiny", "1.0.0", format="hub", folder=True, output=tmp_path / "hub"
    )

    assert lint_folder(tmp_path / "hub").n_documents == 8
    with pytest.raises(CommandError, match="not an empty folder"):
        call_command("export_release", "tiny", "1.0.0", folder=True, output=tmp_path / "hub")


@pytest.mark.parametrize(
    ("form", "pieces"),
    [
        ("trec", "benchmarks_app.releases.services.exporting._zip_pieces"),
        ("qrels", "benchmarks_app.management.commands.export_release.file_pieces"),
    ],
)
def test_export_that_breaks_off_leaves_the_earlier_file_alone(
    release, tmp_path, monkeypatch, form, pieces
):
    path = tmp_path / "exports" / "of last week"
    path.parent.mkdir()
    path.write_bytes(b"whole")

    def breaking_off(*asked):
        yield b"half"
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(pieces, breaking_off)

    with pytest.raises(CommandError, match="No space left"):
        call_command("export_release", "tiny", "1.0.0", format=form, output=path)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == {
        "of last week": b"whole"
    }


def test_command_says_what_is_not_in_the_export(release, tmp_path, capsys):
    call_command("export_release", "tiny", "1.0.0", format="trec", output=tmp_path / "a.zip")
    call_command("export_release", formats=True)

    text = capsys.readouterr().out
    assert "not in it: The documents." in text
    assert "loses nothing: an import of it gives an equal release" in text


def test_command_without_a_release_says_what_to_write():
    with pytest.raises(CommandError, match="export_release SLUG VERSION"):
        call_command("export_release")


def test_unknown_format_is_not_found(release):
    page = signed_in("vi").get("/b/tiny/releases/1.0.0/export/csv.zip")
    api = signed_in("vi").get("/api/v1/benchmarks/tiny/releases/1.0.0/exports/csv/")

    assert (page.status_code, api.status_code) == (404, 404)
    assert api.json()["code"] == "export-format"
    assert "Choose one of beir, hub" in api.json()["message"]


def test_list_of_the_api_says_what_each_format_loses(release):
    rows = signed_in("vi").get("/api/v1/benchmarks/tiny/releases/1.0.0/exports/").json()

    assert [row["name"] for row in rows] == list(EXPORTERS)
    assert all(row["is_ready"] for row in rows)
    assert rows[0]["file"] == "tiny-1.0.0.zip"


# --- large ones ----------------------------------------------------------------------------------


@pytest.fixture
def large(release, monkeypatch) -> Release:
    """A release of more documents than a format is made of while somebody waits."""
    monkeypatch.setattr(exporting, "MAX_AT_ONCE", 3)
    return release


def test_large_export_is_refused_until_it_was_made(large):
    with pytest.raises(ExportNotReadyError, match="has 8 documents, so its Hub dataset"):
        exporting.export_zip(large, exporter_of("hub"))

    answer = signed_in("vi").get("/api/v1/benchmarks/tiny/releases/1.0.0/exports/hub/")
    assert (answer.status_code, answer.json()["code"]) == (409, "export-not-ready")


def test_large_export_is_made_in_the_background_and_kept(large):
    olga = signed_in("olga")
    page = olga.post("/b/tiny/releases/1.0.0/export/hub/")
    jobs.run_queued()

    job = jobs.Job.objects.get(kind=exporting.JOB_KIND)
    assert page.url == job.get_absolute_url()
    assert (job.state, job.result["format"]) == ("done", "hub")
    assert job.result_url == "/b/tiny/releases/1.0.0/export/#hub"
    kept = body(olga.get("/b/tiny/releases/1.0.0/export/hub.zip"))
    assert len(kept) == job.result["n_bytes"]
    assert zipfile.ZipFile(io.BytesIO(kept)).testzip() is None
    event = AuditEvent.objects.get(action="export-release")
    assert (event.actor, event.target) == (factories.user("olga"), "1.0.0 hub")


def test_export_made_before_has_the_bytes_of_one_made_now(large, monkeypatch):
    arguments = exporting.export_arguments(release=large, format="hub")
    jobs.run_here(benchmark=large.benchmark, user=factories.user("olga"), **arguments)
    kept = b"".join(exporting.export_zip(large, exporter_of("hub")))

    monkeypatch.setattr(exporting, "stored_export", lambda release, exporter: None)
    monkeypatch.setattr(exporting, "MAX_AT_ONCE", 100)
    assert b"".join(exporting.export_zip(large, exporter_of("hub"))) == kept


def test_formats_that_stream_need_no_preparing_however_large(large):
    offers = {offer.exporter.name: offer for offer in exporting.offers(large)}

    assert {name for name, offer in offers.items() if offer.needs_preparing} == {
        "hub",
        "mteb",
        "sentence-transformers",
    }
    assert body(signed_in("vi").get("/b/tiny/releases/1.0.0/export/beir.zip"))


def test_viewer_sees_who_can_prepare_and_no_button(large):
    of_viewer = signed_in("vi").get("/b/tiny/releases/1.0.0/export/").content.decode()
    of_owner = signed_in("olga").get("/b/tiny/releases/1.0.0/export/").content.decode()

    assert "ask an owner or a maintainer" in of_viewer
    assert 'aria-label="Prepare ' not in of_viewer
    assert of_owner.count('aria-label="Prepare ') == 3


def test_corpus_of_ids_offers_what_needs_no_texts():
    bench = factories.benchmark("ids")
    factories.member(bench, "olga", "owner")
    qrels = factories.qrel_set(bench, {("q1", "d1"): 1})
    QrelSet.objects.filter(pk=qrels.pk).update(n_relevant=1)
    release = factories.release(QrelSet.objects.get(pk=qrels.pk), "1.0.0")

    offers = {offer.exporter.name: offer for offer in exporting.offers(release)}

    possible = {name for name, offer in offers.items() if offer.is_possible}
    assert possible == {"trec", "ids-only", "judgments"}
    answer = signed_in("olga").get("/b/ids/releases/1.0.0/export/hub.zip")
    assert answer.status_code == 409
    assert "Hub dataset repository needs the documents" in answer.content.decode()


# --- runs ----------------------------------------------------------------------------------------

RUN = """
1 Q0 123 1 2.5 s
1 Q0 d-tab 2 0.1 s
q-cjk Q0 d-cjk 1 1e-05 s
"""


def test_run_is_exported_with_its_scores_and_what_is_known_of_the_system(tiny):
    run = factories.run(tiny, RUN, name="bm25 (k1=0.9)")
    run.metadata = {"method": {"description": "lexical"}, "tag": "my tag"}
    run.save()

    response = signed_in("olga").get(f"/b/tiny/runs/{run.pk}/export.zip")

    with zipfile.ZipFile(io.BytesIO(body(response))) as archive:
        top = "tiny-bm25__k1_0.9"
        names = {name.removeprefix(f"{top}/"): archive.read(name) for name in archive.namelist()}
    lines = names.pop("bm25__k1_0.9.run").decode().splitlines()
    assert lines == [
        "1 Q0 123 1 2.5 my_tag",
        "1 Q0 d-tab 2 0.1 my_tag",
        "q-cjk Q0 d-cjk 1 1e-05 my_tag",
    ]
    assert b"description: lexical" in names["ir-metadata.yml"]
    assert b"#" not in b"".join(names.values())


def test_run_that_one_may_not_see_is_not_found(tiny):
    run = factories.run(tiny, RUN, visibility="owner")

    assert signed_in("vi").get(f"/b/tiny/runs/{run.pk}/export.zip").status_code == 404


# --- hidden splits -------------------------------------------------------------------------------


def test_no_export_asks_for_hidden_grades(release, monkeypatch):
    release_source = exporting.release_source
    asked = []

    def noted(of: Release, **options: Any):
        asked.append(options.get("see_hidden", False))
        return release_source(of, **options)

    for module in list(sys.modules.values()):
        if vars(module).get("release_source") is release_source:
            monkeypatch.setattr(module, "release_source", noted)
    for exporter in EXPORTERS.values():
        b"".join(exporting.export_zip(release, exporter))
    exporting.offers(release)

    assert len(asked) > len(EXPORTERS)
    assert not any(asked)


# --- there and back ------------------------------------------------------------------------------


@pytest.fixture
def full(tiny) -> Release:
    """A release with a family of two, two slices, weights, and what is known of queries."""
    one, other = tiny.queries.filter(family__split="test").order_by("qid")[:2]
    Query.objects.filter(pk=other.pk).update(
        family=one.family,
        weight=2.5,
        frequency=7,
        metadata={"year": "1999?", "asked": {"by": ["a", None]}},
    )
    Query.objects.filter(pk=one.pk).update(
        weight=0.1 + 0.2,
        metadata={"year": 1999},
        description="What is meant: *all* of it",
        narrative="Line one.\nLine two.",
        first_seen_at="2024-05-01T12:00:00Z",
    )
    factories.query_slice(tiny, "both of them", one, other)
    factories.query_slice(tiny, "head", one)
    return factories.release(tiny.qrel_sets.get(), "1.0.0", by=factories.user("olga"))


@pytest.mark.parametrize(
    "name", [name for name, exporter in EXPORTERS.items() if exporter.is_whole]
)
def test_import_of_an_export_that_loses_nothing_gives_an_equal_release(full, tmp_path, name):
    path = tmp_path / f"{name}.zip"
    exporting.write_zip(full, exporter_of(name), path)
    again = factories.texts_benchmark("again")
    factories.member(again, "olga", "owner")

    factories.done(factories.imported(again, path.read_bytes(), path.name))
    release = factories.release(again.qrel_sets.get(), "1.0.0", by=factories.user("olga"))

    parts = [content_parts(release_source(of_release)) for of_release in (full, release)]
    assert parts[1] == parts[0]
    assert release.content_sha256 == full.content_sha256 != ""


def test_metadata_of_documents_keeps_its_names_in_an_export_to_the_hub(tmp_path):
    metadata = {"link": "http://x", "parent": "p1", "path": "a.py", "pmid": "", "n": {"a": []}}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        row = {"_id": "d1", "title": "", "text": "x", "metadata": metadata}
        archive.writestr("a/corpus.jsonl", json.dumps(row))
        archive.writestr("a/queries.jsonl", '{"_id": "q1", "text": "what is x"}')
        archive.writestr("a/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    parts = []

    zipped = content.getvalue()
    for slug in ("first", "again"):
        bench = factories.texts_benchmark(slug)
        factories.member(bench, "olga", "owner")
        factories.done(factories.imported(bench, zipped, f"{slug}.zip"))
        release = factories.release(bench.qrel_sets.get(), by=factories.user("olga"))
        parts.append(content_parts(release_source(release)))
        zipped = b"".join(exporting.export_zip(release, exporter_of("hub")))

    assert parts[1] == parts[0]


def test_beir_export_has_the_files_of_the_release_byte_for_byte(full):
    with zipfile.ZipFile(io.BytesIO(b"".join(exporting.export_zip(full, BEIR)))) as archive:
        held = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}

    pinned = full.manifest["files"]
    same = {name for name in held if name in pinned}
    assert same == {
        *("families.tsv", "qrels/dev.tsv", "qrels/test.tsv", "queries.jsonl", "slices.tsv"),
        "weights.tsv",
    }
    for name in same:
        assert hashlib.sha256(held[name]).hexdigest() == pinned[name]["sha256"], name
