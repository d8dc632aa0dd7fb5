"""Images of cases: received, checked one by one, and stored; never all of them in memory."""

import uuid
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from benchmarks_app import files
from benchmarks_app.core.errors import Problem
from benchmarks_app.core.formats.archives import ZipSource, is_zip
from benchmarks_app.core.formats.sources import Limits
from benchmarks_app.models import Benchmark, Upload, User
from benchmarks_app.services import uploading
from benchmarks_app.services.jobs import RunningJob
from scoring.core.contextual.errors import ImageError
from scoring.core.contextual.images import ImageLimits, checked_image
from scoring.core.contextual.types import Case, Image
from scoring.models import CaseImage, CaseSet
from scoring.services.contextual_errors import CaseImagesError

EXTENSIONS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
# Held in a case in place of an image's bytes, which are in a file: all at once might be too many.
ELSEWHERE = b"\0"


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
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    named = [(path.relative_to(folder).as_posix(), iter([path.read_bytes()])) for path in paths]
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


class NamedImages(Mapping[str, Image]):
    """Images by the path they have in the zip, or by their file's name where only one has it."""

    def __init__(self, images: Mapping[str, Image]) -> None:
        self.images = dict(images)
        self.by_last: dict[str, list[str]] = {}
        for name in images:
            self.by_last.setdefault(last_of(name), []).append(name)

    def __getitem__(self, name: str) -> Image:
        if name in self.images:
            return self.images[name]
        (found,) = self.by_last.get(last_of(name), []) or [name]
        return self.images[found]

    def __contains__(self, name: object) -> bool:
        return name in self.images or len(self.by_last.get(last_of(str(name)), [])) == 1

    def __iter__(self) -> Iterator[str]:
        return iter(self.images)

    def __len__(self) -> int:
        return len(self.images)


def last_of(name: str) -> str:
    return name.rpartition("/")[2]


def image_limits() -> ImageLimits:
    """How large an image may be on this site."""
    return ImageLimits(
        max_bytes=settings.CASE_IMAGE_BYTES, max_pixels=settings.CASE_IMAGE_MEGAPIXELS * 1_000_000
    )


def images_of(job: RunningJob, pk: int | None) -> tuple[dict[str, Image], list[Problem]]:
    """What the zip holds, each image checked and put into a file of the job's folder."""
    if pk is None:
        return {}, []
    upload = Upload.objects.get(pk=pk)
    path = uploading.local(upload)
    if not is_zip(path):
        text = "it is no zip; send the images themselves, or a zip of them"
        return {}, [Problem(upload.name, 0, text)]
    found: dict[str, Image] = {}
    problems: list[Problem] = []
    with ZipSource(path, limits=Limits(max_bytes=settings.CASE_IMAGES_BYTES)) as source:
        names = [name for name in source.members() if not name.lower().endswith(".jsonl")]
        for n, name in enumerate(names):
            job.progress(n, len(names), f"looking into {last_of(name)}")
            try:
                found[name] = _checked(source, name, job.folder)
            except ImageError as error:
                problems.append(Problem(name, 0, _without_name(str(error), name)))
                # A case that shows it is not wrong as well.
                found[name] = Image(data=ELSEWHERE, name=name)
    return found, problems


def _checked(source: ZipSource, name: str, folder: Path) -> Image:
    limits = image_limits()
    with source.opened(name) as stream:
        # One byte more than is taken says that there are too many, and no more is held.
        image = checked_image(stream.read(limits.max_bytes + 1), limits, name=name)
    return _put_aside(image, folder)


def _put_aside(image: Image, folder: Path) -> Image:
    """The image without its bytes, which are in a file named by their digest."""
    digest = image.sha256
    (folder / digest).write_bytes(image.data)
    light = replace(image, data=ELSEWHERE)
    light.__dict__["sha256"] = digest  # what `cached_property` would work out anew
    return light


def _without_name(text: str, name: str) -> str:
    return text.removeprefix(f"{name}: ")


def with_light_images(case: Case, folder: Path) -> Case:
    """The case with its images light, those that came inside the file as well."""

    def light(content: Any) -> Any:
        if isinstance(content, Image):
            return _light(content, folder)
        return tuple(map(light, content)) if isinstance(content, tuple) else content

    return replace(
        case,
        input=light(case.input),
        expected_output=light(case.expected_output),
        actual_output=light(case.actual_output),
        retrieval_context=light(case.retrieval_context),
    )


def _light(image: Image, folder: Path) -> Image:
    """An image that came inside the file is named by its bytes already."""
    if not image.data or image.data == ELSEWHERE:
        return image
    return _put_aside(image, folder)


# --- stored ----------------------------------------------------------------------------------


def store_images(job: RunningJob, made: CaseSet, images: Iterable[Image]) -> None:
    rows = []
    for image in images:
        path = job.folder / image.sha256
        size = path.stat().st_size
        # A folder of this import's own: its files go with the set, and with no other.
        name = f"contextual/{job.row.pk}/{image.sha256}.{EXTENSIONS[image.media_type]}"
        stored = files.publish(_copy_of(path), name)
        rows.append(
            CaseImage(
                case_set=made,
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


def _copy_of(path: Path) -> Path:
    """A second name of the file: publishing takes the first away, and two images may be equal."""
    copy = path.with_suffix(".publish")
    copy.unlink(missing_ok=True)
    copy.hardlink_to(path)
    return copy
