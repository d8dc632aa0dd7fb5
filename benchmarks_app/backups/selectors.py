"""What this app keeps in the storage, and what depends on each file."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Q, QuerySet

from benchmarks_app.files import KEEPERS, Keeper, StoredFile, digest_in
from benchmarks_app.models import (
    Benchmark,
    CandidateList,
    CorpusImage,
    CorpusVersion,
    QueryLog,
    Release,
    Run,
    Upload,
)
from benchmarks_app.store import file_store
from benchwright.exports import EXPORTERS

# Counted up when the bytes that an exporter writes change: what was made before is not given then.
EDITION = 1


def stored_export_name(release: Release, exporter: str) -> str:
    """The finished export of a release in a format, by its name in the storage, or ""."""
    return next(iter(finished_in(export_folder(release, exporter))), "")


def finished_in(folder: str) -> list[str]:
    """Stored files of a folder that carry the digest of their content in their name."""
    names = file_store().listed(folder)[1]
    return sorted(name for base_name in names if digest_in(name := f"{folder}/{base_name}"))


def export_folder(release: Release, exporter: str) -> str:
    # The folder of a release is its own: a release that was made again has another.
    return f"exports/{release.folder}/{exporter}-{EDITION}"


def with_file(rows: QuerySet, name: str, *fields: str) -> QuerySet:
    """The rows that have a stored file in one of these fields; all where no name is given."""
    named = Q()
    for field in fields:
        named |= Q(**{field: name})
    return rows.filter(named) if name else rows


def stored_files(name: str = "") -> Iterator[StoredFile]:
    """Files that rows of this app name, all of them or those of one name."""
    uploads = with_file(Upload.objects.select_related("benchmark"), name, "stored")
    for row in uploads.iterator():
        yield StoredFile(row.stored, row.sha256, f"upload {row.name}", row.created_at)
    versions = CorpusVersion.objects.select_related("corpus")
    for row in with_file(versions, name, "parquet", "index").iterator():
        for file, sha256 in ((row.parquet, row.sha256), (row.index, digest_in(row.index))):
            if name in ("", file):
                yield StoredFile(file, sha256, f"corpus {row}", row.created_at)
    images = with_file(CorpusImage.objects.select_related("corpus"), name, "stored", "thumbnail")
    for row in images.iterator():
        for file in (row.stored, row.thumbnail):
            if name in ("", file):
                what = f"{row} of corpus {row.corpus}"
                yield StoredFile(file, digest_in(file), what, row.created_at)
    for model in (Run, CandidateList):
        rows = model._default_manager.select_related("benchmark")
        for row in with_file(rows, name, "parquet").iterator():
            what = f"{model._meta.verbose_name} {row} of {row.benchmark}"
            yield StoredFile(row.parquet, digest_in(row.parquet), what, row.created_at)
    for row in QueryLog.objects.select_related("benchmark").exclude(parquet="").iterator():
        for file in (row.parquet, row.links):
            if name in ("", file):
                what = f"query log {row} of {row.benchmark}"
                yield StoredFile(file, digest_in(file), what, row.created_at)
    yield from _files_of_releases(name)
    yield from _leak_reports(name)


def _leak_reports(name: str) -> Iterator[StoredFile]:
    """Reports that pages have kept; no row names them."""
    if name and not name.startswith("leaks/"):
        return
    for benchmark in Benchmark.objects.order_by("pk").iterator():
        folder = f"leaks/{benchmark.pk}"
        states = file_store().listed(folder)[0]
        for file in (file for state in sorted(states) for file in finished_in(f"{folder}/{state}")):
            if name in ("", file):
                stored_at = file_store().changed_at(file)
                yield StoredFile(file, digest_in(file), f"leak report of {benchmark}", stored_at)


def _files_of_releases(name: str) -> Iterator[StoredFile]:
    for release in _releases_with(name).iterator():
        stored_at = release.published_at or release.created_at
        for file, facts in release.manifest["files"].items():
            if name in ("", f"{release.folder}/{file}"):
                what = f"release {release}: {file}"
                yield StoredFile(f"{release.folder}/{file}", facts["sha256"], what, stored_at)
        for exporter in EXPORTERS:
            export = stored_export_name(release, exporter)
            if export and name in ("", export):
                what = f"release {release} as {exporter}"
                yield StoredFile(export, digest_in(export), what, stored_at)


def _releases_with(name: str) -> QuerySet[Release]:
    releases = Release.objects.exclude(folder="").select_related("benchmark")
    if not name:
        return releases
    folder = "/".join(name.removeprefix("exports/").split("/")[:3])
    return releases.filter(folder=folder)


def dependents(name: str) -> Iterator[str]:
    """What is made of a stored file, in words."""
    releases = Release.objects.published().select_related("benchmark")
    for release in _releases_with(name).order_by("pk"):
        yield f"release {release}"
    for version in with_file(CorpusVersion.objects.all(), name, "parquet", "index"):
        for benchmark in Benchmark.objects.filter(corpus=version.corpus_id):
            yield f"benchmark {benchmark}"
        for release in releases.filter(corpus_version=version).order_by("pk"):
            yield f"release {release}"
    for image in with_file(CorpusImage.objects.all(), name, "stored", "thumbnail"):
        for benchmark in Benchmark.objects.filter(corpus=image.corpus_id):
            yield f"benchmark {benchmark}"
    uploads = with_file(Upload.objects.all(), name, "stored")
    for upload in uploads.exclude(imported_as=""):
        yield upload.imported_as
    runs = Run.objects.filter(Q(parquet=name) | Q(upload__in=uploads)).distinct()
    yield from _each(runs.select_related("benchmark"), "run")
    yield from _each(CandidateList.objects.filter(parquet=name), "candidate list")
    yield from _each(QueryLog.objects.filter(parquet=name), "query log")


def _each(rows: Any, word: str) -> Iterator[str]:
    for row in rows.select_related("benchmark").order_by("pk"):
        yield f"{word} {row} of {row.benchmark}"


KEEPERS.append(Keeper(stored_files, dependents))
