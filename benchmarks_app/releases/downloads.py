"""What pages and the API share to hand out a release: finding it, sending a zip."""

import re
from collections.abc import Iterator, Mapping

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404

from benchmarks_app.common.selectors.reading import release_file_path
from benchmarks_app.models import Benchmark, Release
from benchmarks_app.releases.services import exporting
from benchwright.exports.exporter import file_pieces
from benchwright.releases.errors import VersionError
from benchwright.releases.source import HIDDEN_FILES
from benchwright.releases.versions import parse_version

REST = re.compile(r"bytes=(\d{1,18})-")
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
    """A zip that is sent while it is made."""
    return StreamingHttpResponse(
        pieces,
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{stem}.zip"'},
    )


def file_response(release: Release, name: str, wanted: Mapping[str, str]) -> HttpResponseBase:
    """One of a release's files, by the name the manifest gives it; no other path is looked at.

    `wanted` are the request's headers: a download that broke off goes on where it was.

    Grades of hidden splits are given to nobody: keepers find them where reading is written down.
    """
    if name == "manifest.json":
        return HttpResponse(exporting.manifest_bytes(release), content_type="application/json")
    facts = release.manifest["files"].get(name)
    if facts is None or name.startswith(HIDDEN_FILES):
        raise Http404
    stem = f"{exporting.export_name(release)}-{name.replace('/', '-')}"
    path = release_file_path(release, name)
    size, version = path.stat().st_size, f'"{facts["sha256"]}"'
    begin = _begin_of(wanted, version, size)
    response = StreamingHttpResponse(
        file_pieces(path, begin),
        status=206 if begin else 200,
        content_type=KINDS.get(name.rpartition(".")[2], TSV),
        headers={
            "Content-Disposition": f'attachment; filename="{stem}"',
            "Content-Length": str(size - begin),
            "Accept-Ranges": "bytes",
            "ETag": version,
        },
    )
    if begin:
        response["Content-Range"] = f"bytes {begin}-{size - 1}/{size}"
    return response


def _begin_of(wanted: Mapping[str, str], version: str, size: int) -> int:
    """From which byte on a file is asked for; 0 where that is not of this very file.

    Whoever goes on with a download asks for the rest and names what was begun with (If-Range).
    Other ranges are answered with the whole file, as one may.
    """
    match = REST.fullmatch(wanted.get("Range", ""))
    if match is None or wanted.get("If-Range") != version:
        return 0
    begin = int(match[1])
    return begin if begin < size else 0
