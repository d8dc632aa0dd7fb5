"""Images of documents: read apart, checked, and kept once for each corpus."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from django.conf import settings

from benchmarks_app import files
from benchmarks_app.collections.services.staging import Import
from benchmarks_app.common.selectors.images import EXTENSIONS, image_limits
from benchmarks_app.common.services import reading_apart
from benchmarks_app.models import CorpusImage
from benchwright.corpora.images import DocumentImage, images_in, with_images
from benchwright.corpora.store import IMAGE_KEY
from benchwright.formats.beir import CorpusRow
from benchwright.uploads.looks import Place


def stage_images(
    work: Import, rows: Iterable[CorpusRow], place: Place, *, column: str
) -> Iterator[CorpusRow]:
    """Yield the documents of a table with their images, which are kept when the import ends.

    Raises
    ------
    ImageArchiveError
        If the table comes alone, without its images.
    """
    folder = work.job.folder / "images"
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
    by_digest = {image.sha256: image for image in images.values()}
    staged: dict[str, DocumentImage] = {}
    work.on_commit.append(lambda: _keep(work, folder, staged))
    with_digests = with_images(
        rows, images, broken=broken, column=column, file=place.shown, problems=work.problems
    )
    for row in with_digests:
        staged |= {digest: by_digest[digest] for digest in row.metadata[IMAGE_KEY]}
        yield row


def _keep(work: Import, folder: Path, images: dict[str, DocumentImage]) -> None:
    corpus = work.benchmark.corpus
    kept = set(corpus.images.values_list("sha256", flat=True))
    rows = []
    for image in (image for digest, image in images.items() if digest not in kept):
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
    work.made.append(f"{len(images):,} images, {len(rows):,} of them new")
