"""Exports of a release, streamed: what it holds, in one of the field's formats.

A source without hidden grades is all that is asked for here, so no export can hold one.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.db import transaction

from benchmarks_app import files
from benchmarks_app.backups.selectors import export_folder, stored_export_name
from benchmarks_app.common.selectors import naming
from benchmarks_app.common.selectors.reading import run_path
from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job, Release, Run, User
from benchmarks_app.releases.selectors import has_images, release_source, whole_release_source
from benchwright.cli.files import written as whole_file
from benchwright.exports import EXPORTERS, Exporter, exporter_of
from benchwright.exports.errors import ExportNotReadyError
from benchwright.exports.exporter import file_pieces, written, zipped
from benchwright.exports.side_files import manifest_json
from benchwright.exports.trec import run_members
from benchwright.files.sources import sha256_of
from benchwright.formats.beir_writing import DocumentLike, streamed_zip
from benchwright.releases.source import ReleaseSource

JOB_KIND = "export-release"
# Formats that cannot be sent while they are made are, up to here, made while somebody waits.
MAX_AT_ONCE = 20_000
TELL_EVERY = 5_000
Tell = Callable[[int], None]
IMAGES_LEFT_OUT = "The images: what has any carries their digests (SHA-256) and paths."


def export_name(release: Release) -> str:
    """The stem of the BEIR zip, and the name of its one folder."""
    return f"{release.benchmark.slug}-{release.version}"


def has_beir_export(release: Release) -> bool:
    return release_source(release).documents is not None


def manifest_bytes(release: Release) -> bytes:
    return manifest_json(release.manifest)


# --- what there is -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Offer:
    """One format of a release, as its page offers it."""

    exporter: Exporter
    loses: tuple[str, ...]
    is_possible: bool
    is_made_at_once: bool
    is_ready: bool
    stem: str
    snippets: tuple[tuple[str, str], ...]

    @property
    def needs_preparing(self) -> bool:
        return self.is_possible and not (self.is_made_at_once or self.is_ready)


def offers(release: Release) -> list[Offer]:
    """Every format that the release is given in, in the order of the registry."""
    source = release_source(release)
    split = _split_shown(source)
    left_out = release.manifest.get("formats_left_out", ())
    exporters = [exporter for exporter in EXPORTERS.values() if exporter.name not in left_out]
    return [_offer(release, exporter, source, split) for exporter in exporters]


def _offer(release: Release, exporter: Exporter, source: ReleaseSource, split: str) -> Offer:
    stem = exporter.stem(source)
    facts = {"folder": stem, "split": split, "task": _task_name(source)}
    return Offer(
        exporter=exporter,
        loses=losses(release, exporter),
        is_possible=source.documents is not None or not exporter.needs_texts,
        is_made_at_once=is_made_at_once(release, exporter),
        is_ready=bool(stored_export_name(release, exporter.name)),
        stem=stem,
        snippets=tuple((snippet.reader, snippet.filled(**facts)) for snippet in exporter.snippets),
    )


def losses(release: Release, exporter: Exporter) -> tuple[str, ...]:
    """What of this release a format has no place for, as sentences."""
    is_lost = has_images(release) and not exporter.has_images
    return (*exporter.loses, IMAGES_LEFT_OUT) if is_lost else exporter.loses


def _split_shown(source: ReleaseSource) -> str:
    return "test" if "test" in source.splits or not source.splits else source.splits[0]


def _task_name(source: ReleaseSource) -> str:
    from benchwright.exports.mteb import task_name

    return task_name(source.slug)


def is_made_at_once(release: Release, exporter: Exporter) -> bool:
    return exporter.is_streamed or _n_documents(release) <= MAX_AT_ONCE


def _n_documents(release: Release) -> int:
    return (release.manifest.get("corpus") or {}).get("n_documents") or 0


# --- a zip, as it is made or as it was -----------------------------------------------------------


def export_zip(release: Release, exporter: Exporter) -> Iterator[bytes]:
    """The release as a zip of one format, in pieces, in constant memory.

    Raises
    ------
    ExportNeedsTextsError, ExportNotReadyError, StoredFileError
        By the call, not by the first piece.
    """
    exporter.check(release_source(release))
    if stored := stored_export(release, exporter):
        return file_pieces(stored)
    if not is_made_at_once(release, exporter):
        raise ExportNotReadyError(n_documents=_n_documents(release), format=exporter.label)
    return _zip_pieces(exporter, whole_release_source(release))


def _zip_pieces(exporter: Exporter, source: ReleaseSource) -> Iterator[bytes]:
    with TemporaryDirectory(dir=settings.STAGING_DIR, prefix="export-") as folder:
        yield from zipped(exporter, source, Path(folder))


def write_zip(release: Release, exporter: Exporter, path: Path, *, tell: Tell | None = None) -> int:
    """Write a zip to a file of this machine, as the command does; returns its size.

    Raises
    ------
    ExportNeedsTextsError, StoredFileError
        Before the file is touched.
    """
    source = _told(whole_release_source(release), tell)
    exporter.check(source)
    with whole_file(path) as out:
        out.writelines(_zip_pieces(exporter, source))
    return path.stat().st_size


def write_folder(
    release: Release, exporter: Exporter, folder: Path, *, tell: Tell | None = None
) -> list[str]:
    """Write an export as a folder; returns the names of its files. Raises as `written` does."""
    return written(exporter, _told(whole_release_source(release), tell), folder)


def _told(source: ReleaseSource, tell: Tell | None) -> ReleaseSource:
    """A source that says how many documents were read, every few thousand."""
    documents = source.documents
    if tell is None or documents is None:
        return source

    def counted() -> Iterator[DocumentLike]:
        for number, document in enumerate(documents(), start=1):
            if number % TELL_EVERY == 0:
                tell(number)
            yield document

    return replace(source, documents=counted)


# --- made in the background ----------------------------------------------------------------------


def export_arguments(*, release: Release, format: str) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to make an export.

    Raises
    ------
    UnknownExportError, ExportNeedsTextsError
        If it cannot be made.
    """
    exporter = exporter_of(format)
    exporter.check(release_source(release))
    return {
        "kind": JOB_KIND,
        "title": f"Export release {release.version}: {exporter.label}",
        "parameters": {"release": release.pk, "format": format},
    }


@transaction.atomic
def start_export(*, user: User, release: Release, format: str) -> Job:
    """Start a job that makes an export to be downloaded; raises as `export_arguments` does."""
    arguments = export_arguments(release=release, format=format)
    job = jobs.start(benchmark=release.benchmark, user=user, **arguments)
    audit.record(
        actor=user,
        action="export-release",
        benchmark=release.benchmark,
        target=f"{release.version} {format}",
    )
    return job


def export_release(job: jobs.RunningJob) -> None:
    """The handler: write the zip into the storage, where its address finds it."""
    releases = Release.objects.published().filter(benchmark=job.benchmark)
    release = releases.get(pk=job.parameters["release"])
    exporter = exporter_of(job.parameters["format"])
    total = _n_documents(release)
    path = job.folder / "export.zip"
    write_zip(release, exporter, path, tell=lambda n: job.progress(n, total, "writing documents"))
    n_bytes = path.stat().st_size
    with job.commit() as result:
        name = f"{export_folder(release, exporter.name)}/{sha256_of(path)}.zip"
        files.publish(path, name)
        url = f"{release.get_absolute_url()}export/#{exporter.name}"
        result.update(format=exporter.name, n_bytes=n_bytes, url=url)


def stored_export(release: Release, exporter: Exporter) -> Path | None:
    """Where a finished export lies, or None."""
    name = stored_export_name(release, exporter.name)
    return files.local_path(name) if name else None


# --- runs ----------------------------------------------------------------------------------------


def run_zip(run: Run, viewer: Any) -> Iterator[bytes]:
    """A run in TREC's form with what this person may know of it beside it, as a zip, in pieces."""
    stem = f"{run.benchmark.slug}-{run_file_name(run)}"
    rows = _run_rows(run_path(run))
    members = run_members(run_file_name(run), rows, run_metadata(run, viewer))
    return streamed_zip((f"{stem}/{name}", pieces) for name, pieces in members)


def run_metadata(run: Run, viewer: Any) -> dict[str, Any]:
    """What is known of the system, in the keys in which it was given, and what the site knows."""
    facts = {"tag": run.name, "description": run.description}
    metadata = naming.metadata_told(run, viewer)
    return metadata | {key: value for key, value in facts.items() if value and key not in metadata}


def run_file_name(run: Run) -> str:
    """The run's name as a file can have it."""
    name = "".join(c if c.isalnum() or c in "._-" else "_" for c in run.name).strip("._")
    return name[:100] or f"run{run.pk}"


def _run_rows(parquet: Path) -> Iterable[tuple[str, str, float, int]]:
    import polars as pl

    frame = pl.scan_parquet(parquet).select("qid", "docid", "score", "rank")
    for batch in frame.collect_batches(maintain_order=True):
        yield from batch.iter_rows()
