"""What pages and the API share to hand out a release: finding it, sending a zip."""

from collections.abc import Iterator

from django.http import Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404

from benchmarks_app.core.release_errors import VersionError
from benchmarks_app.core.versions import parse_version
from benchmarks_app.models import Benchmark, Release


def published_release(benchmark: Benchmark, version: str) -> Release:
    """The release of a version; 404 where there is none that was published."""
    try:
        major, minor, patch = parse_version(version)
    except VersionError as error:
        raise Http404 from error
    releases = benchmark.releases.published().select_related("corpus_version", "benchmark__corpus")
    return get_object_or_404(releases, major=major, minor=minor, patch=patch)


def zip_response(pieces: Iterator[bytes], stem: str) -> StreamingHttpResponse:
    """A zip that is sent while it is made."""
    return StreamingHttpResponse(
        pieces,
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{stem}.zip"'},
    )
