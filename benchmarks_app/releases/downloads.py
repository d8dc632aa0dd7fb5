"""What pages and the API share to hand out a release: finding it, sending a zip."""

from collections.abc import Iterator
from typing import Any

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404

from benchmarks_app.backups.selectors import stored_export_name
from benchmarks_app.common.selectors.reading import qrels_of, release_file_path
from benchmarks_app.files import digest_in
from benchmarks_app.models import Benchmark, QrelSet, Release, Run
from benchmarks_app.ranges import made_response, stored_response
from benchmarks_app.releases.services import exporting
from benchmarks_app.releases.services.releasing import trec_lines
from benchwright.exports.exporter import Exporter
from benchwright.releases.errors import VersionError
from benchwright.releases.source import HIDDEN_FILES
from benchwright.releases.versions import parse_version

ZIP = "application/zip"
TEXT = "text/plain; charset=utf-8"
TSV = "text/tab-separated-values; charset=utf-8"
KINDS = {
    "jsonl": "application/jsonlines",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "bib": TEXT,
    "trec": TEXT,
}


def published_release(benchmark: Benchmark, version: str) -> Release:
    """The release of a version; 404 where there is none that was published."""
    try:
        major, minor, patch = parse_version(version)
    except VersionError as error:
        raise Http404 from error
    releases = benchmark.releases.published().select_related(
        "corpus_version", "benchmark__corpus", "qrel_set", "created_by", "parent", "successor"
    )
    return get_object_or_404(releases, major=major, minor=minor, patch=patch)


def zip_response(pieces: Iterator[bytes], stem: str) -> StreamingHttpResponse:
    """A zip that is sent while it is made, and of which nothing is kept."""
    return StreamingHttpResponse(
        pieces,
        content_type=ZIP,
        headers={"Content-Disposition": f'attachment; filename="{stem}.zip"'},
    )


def export_response(request: Any, release: Release, exporter: Exporter) -> HttpResponseBase:
    """A release as a zip of one format, as it is stored or made; raises as `export_zip` does."""
    name = f"{exporting.export_name(release)}{exporter.suffix}.zip"
    pieces = exporting.export_zip(release, exporter)
    if path := exporting.stored_export(release, exporter):
        sha256 = digest_in(stored_export_name(release, exporter.name))
        return stored_response(request, path, sha256=sha256, content_type=ZIP, name=name)
    return made_response(request, pieces, content_type=ZIP, name=name)


def run_response(request: Any, run: Run) -> HttpResponseBase:
    """A run in TREC's form as a zip."""
    name = f"{run.benchmark.slug}-{exporting.run_file_name(run)}.zip"
    pieces = exporting.run_zip(run, request.user)
    return made_response(request, pieces, content_type=ZIP, name=name)


def qrels_response(request: Any, qrel_set: QrelSet, *, name: str = "") -> HttpResponseBase:
    """The grades of a set as TREC qrels."""
    return made_response(request, trec_lines(qrels_of(qrel_set)), content_type=TEXT, name=name)


def file_response(request: Any, release: Release, name: str) -> HttpResponseBase:
    """One of a release's files, by the name the manifest gives it; no other path is looked at.

    Grades of hidden splits are given to nobody: keepers find them where reading is written down.
    """
    if name == "manifest.json":
        return HttpResponse(exporting.manifest_bytes(release), content_type="application/json")
    facts = release.manifest["files"].get(name)
    if facts is None or name.startswith(HIDDEN_FILES):
        raise Http404
    stem = f"{exporting.export_name(release)}-{name.replace('/', '-')}"
    return stored_response(
        request,
        release_file_path(release, name),
        sha256=facts["sha256"],
        content_type=KINDS.get(name.rpartition(".")[2], TSV),
        name=stem,
    )
