"""Images of cases: received, checked one by one, and stored; never all of them in memory."""

import uuid
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse

from benchmarks_app import files
from benchmarks_app.collections.services import uploading
from benchmarks_app.common.selectors.images import EXTENSIONS, image_bytes, image_limits
from benchmarks_app.common.services import reading_apart
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Benchmark, Upload, User
from benchwright.contextual.from_outside import images_apart
from benchwright.errors import Problem
from benchwright.files.sources import files_in
from benchwright.judges.messages import Image
from scoring.contextual.services.errors import CaseImagesError
from scoring.models import CaseImage, CaseSet

# --- received --------------------------------------------------------------------------------


def receive_images(
    *, benchmark: Benchmark, owner: User, images: Sequence[UploadedFile]
) -> Upload | None:
    """The images as one stored zip: the one that was sent, or a new one of several images.

    Raises
    ------
    CaseImagesError
        If a zip comes with something else, or two images have one name.
    """
    zips = [file for file in images if (file.name or "").lower().endswith(".zip")]
    if zips and len(images) > 1:
        reason = "Send one zip with all the images, or the images themselves; not both."
        raise CaseImagesError(reason=reason)
    if zips:
        return uploading.receive_upload(benchmark=benchmark, owner=owner, file=zips[0])
    if not images:
        return None
    named = [(Path(file.name or "image").name, file.chunks()) for file in images]
    return _packed(benchmark, owner, named)


def receive_folder(*, benchmark: Benchmark, owner: User, folder: Path) -> Upload | None:
    """The images of a folder of this machine and of those in it, as one stored zip."""
    named = [
        (path.relative_to(folder).as_posix(), iter([path.read_bytes()]))
        for path in files_in(folder)
    ]
    return _packed(benchmark, owner, named) if named else None


def _packed(
    benchmark: Benchmark, owner: User, named: Sequence[tuple[str, Iterable[bytes]]]
) -> Upload:
    names = [name for name, _ in named]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        reason = f"Two images are called {twice}. Zip their folders and send the zip."
        raise CaseImagesError(reason=reason)
    packed = settings.STAGING_DIR / f"images-{uuid.uuid4().hex}.zip"
    try:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            for name, pieces in named:
                with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as out:
                    for piece in pieces:
                        out.write(piece)
        return uploading.receive_path(benchmark=benchmark, owner=owner, path=packed)
    finally:
        packed.unlink(missing_ok=True)


# --- looked into ------------------------------------------------------------------------------


def images_of(job: RunningJob, pk: int | None) -> tuple[dict[str, Image], list[Problem]]:
    """What the zip holds, each image checked and put into a file of the job's folder."""
    if pk is None:
        return {}, []
    upload = Upload.objects.get(pk=pk)
    images_and_problems: tuple[dict[str, Image], list[Problem]] = reading_apart.call(
        images_apart,
        uploading.local(upload),
        upload.name,
        job.folder,
        image_limits(),
        settings.CASE_IMAGES_BYTES,
        file=upload.name,
        is_job=True,
        progress=job.progress,
    )
    return images_and_problems


# --- stored ----------------------------------------------------------------------------------


def store_images(job: RunningJob, case_set: CaseSet, images: Iterable[Image]) -> None:
    rows = []
    for image in images:
        path = job.folder / image.sha256
        size = path.stat().st_size
        # A folder of this import's own: its files go with the set, and with no other.
        name = f"contextual/{job.row.pk}/{image.sha256}.{EXTENSIONS[image.media_type]}"
        stored = files.publish_copy(path, name)
        rows.append(
            CaseImage(
                case_set=case_set,
                name=image.name,
                stored=stored,
                sha256=image.sha256,
                media_type=image.media_type,
                width=image.width,
                height=image.height,
                size=size,
            )
        )
    with job.fenced():
        CaseImage.objects.bulk_create(rows, batch_size=500)


def image_response(image: CaseImage) -> HttpResponse:
    """The bytes, some megabytes at most, with headers that let them be nothing but this image."""
    name = f"image-{image.pk}.{image.stored.rpartition('.')[2]}"
    return image_bytes(image.stored, image.media_type, name)
