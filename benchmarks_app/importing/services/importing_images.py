"""Images of documents and queries: read apart, checked, and kept once for each corpus."""

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from django.conf import settings

from benchmarks_app import files
from benchmarks_app.collections.services.staging import Import
from benchmarks_app.common.selectors.images import EXTENSIONS, image_limits
from benchmarks_app.common.services import reading_apart
from benchmarks_app.models import CorpusImage
from benchwright.corpora.images import (
    DocumentImage,
    are_files,
    images_in,
    with_images,
    with_query_images,
)
from benchwright.formats.beir import CorpusRow, QueryRow
from benchwright.texts.counting import counted
from benchwright.texts.images import digests_in
from benchwright.uploads.looks import Place

Row = TypeVar("Row", CorpusRow, QueryRow)


def stage_images(
    work: Import, rows: Iterable[CorpusRow], place: Place, *, column: str
) -> Iterator[CorpusRow]:
    """Yield the documents of a table with their images, which are kept when the import ends.

    Raises
    ------
    ImageArchiveError
        If the table comes alone, without its images.
    """
    images, broken = _images_at(work, place)
    with_digests = with_images(
        rows, images, broken=broken, column=column, file=place.shown, problems=work.problems
    )
    yield from _staged(work, with_digests)


def stage_query_images(
    work: Import, rows: Iterable[QueryRow], place: Place, *, column: str
) -> Iterator[QueryRow]:
    """Yield the queries of a table with the images that they have; otherwise as `stage_images`."""
    load = partial(_images_at, work, place)
    with_digests = with_query_images(
        rows, load, column=column, file=place.shown, problems=work.problems
    )
    yield from _staged(work, with_digests)


def _images_at(work: Import, place: Place) -> tuple[dict[str, DocumentImage], Collection[str]]:
    """The images of a table by the names that its rows have for them, and names of broken ones.

    Those that lie beside the tables of an archive are read once for all of these.
    """
    beside = work.images_beside.get(place.path)
    if beside and not place.member.endswith(".parquet"):
        return beside
    folder = _folder(work)
    folder.mkdir(parents=True, exist_ok=True)
    images, broken = reading_apart.call(
        images_in,
        place.path,
        place.name,
        place.member,
        folder,
        image_limits(),
        settings.CASE_IMAGES_BYTES,
        file=place.name,
        is_job=True,
        progress=work.job.progress,
    )
    for problem in broken.values():
        work.problems.add(problem.file, problem.line, problem.text)
    work.images_here |= {image.sha256: image for image in images.values()}
    if are_files(images):
        work.images_beside[place.path] = images, frozenset(broken)
    return images, broken


def _staged(work: Import, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows; the images that they have are kept when the import ends."""
    staged: dict[str, DocumentImage] = {}
    work.on_commit.append(lambda: _keep(work, staged))
    for row in rows:
        staged |= {digest: work.images_here[digest] for digest in digests_in(row.metadata)}
        yield row


def _folder(work: Import) -> Path:
    return work.job.folder / "images"


def _keep(work: Import, images: dict[str, DocumentImage]) -> None:
    if not images:
        return
    folder = _folder(work)
    corpus = work.benchmark.corpus
    kept_digests = set(corpus.images.values_list("sha256", flat=True))
    rows = []
    for image in (image for digest, image in images.items() if digest not in kept_digests):
        stem = f"images/{corpus.pk}"
        stored = f"{stem}/{image.sha256}.{EXTENSIONS[image.media_type]}"
        thumbnail = f"{stem}/{image.thumbnail}.png"
        rows.append(
            CorpusImage(
                corpus=corpus,
                sha256=image.sha256,
                stored=files.publish_copy(folder / image.sha256, stored),
                thumbnail=files.publish_copy(folder / image.thumbnail, thumbnail),
                media_type=image.media_type,
                width=image.width,
                height=image.height,
                size=image.size,
            )
        )
    CorpusImage.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)
    work.outcomes.append(f"{counted(len(images), 'image')}, {len(rows):,} new")
