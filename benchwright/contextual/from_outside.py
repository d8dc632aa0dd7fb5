"""Cases and images from outside, read apart: an image's bytes go into a file, never into a case.

All images of a set at once might be too many for memory.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchwright.contextual.cases import CaseLimits, read_cases
from benchwright.contextual.types import Case
from benchwright.errors import Problem
from benchwright.files.archives import ZipSource, is_zip
from benchwright.files.sources import Limits
from benchwright.judges.errors import ImageError
from benchwright.judges.images import ImageLimits, checked_image
from benchwright.judges.messages import Image
from benchwright.sandbox import reader

# Held in a case in place of an image's bytes, which are in a file of their digest's name.
ELSEWHERE = b"\0"
Tell = Callable[[int, int, str], None]


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
        (path,) = self.by_last.get(last_of(name), []) or [name]
        return self.images[path]

    def __contains__(self, name: object) -> bool:
        return name in self.images or len(self.by_last.get(last_of(str(name)), [])) == 1

    def __iter__(self) -> Iterator[str]:
        return iter(self.images)

    def __len__(self) -> int:
        return len(self.images)


def last_of(name: str) -> str:
    return name.rpartition("/")[2]


@reader
def images_apart(
    path: Path, name: str, folder: Path, limits: ImageLimits, max_bytes: int, *, progress: Tell
) -> tuple[dict[str, Image], list[Problem]]:
    """What a zip holds, each image checked and put into a file of `folder`."""
    if not is_zip(path):
        return {}, [Problem(name, 0, "it is no zip; send the images themselves, or a zip of them")]
    images: dict[str, Image] = {}
    problems: list[Problem] = []
    with ZipSource(path, limits=Limits(max_bytes=max_bytes)) as source:
        names = [member for member in source.members() if not member.lower().endswith(".jsonl")]
        for n, member in enumerate(names):
            progress(n, len(names), f"looking into {last_of(member)}")
            try:
                images[member] = _checked(source, member, folder, limits)
            except ImageError as error:
                problems.append(Problem(member, 0, str(error).removeprefix(f"{member}: ")))
                # A case that shows it is not wrong as well.
                images[member] = Image(data=ELSEWHERE, name=member)
    return images, problems


def _checked(source: ZipSource, name: str, folder: Path, limits: ImageLimits) -> Image:
    with source.opened(name) as stream:
        # One byte more than is taken says that there are too many, and no more is held.
        image = checked_image(stream.read(limits.max_bytes + 1), limits, name=name)
    return _put_aside(image, folder)


@reader
def cases_apart(
    path: Path, name: str, images: Mapping[str, Image], limits: CaseLimits, folder: Path
) -> Generator[Case, None, list[Problem]]:
    """Yield the cases of a file, their images in files of `folder`; returns what is odd about it.

    Raises as `read_cases` does.
    """
    batch = read_cases(path, images=NamedImages(images), limits=limits, name=name)
    for case in batch.cases:
        yield _with_light_images(case, folder)
    return list(batch.warnings)


def _put_aside(image: Image, folder: Path) -> Image:
    """The image without its bytes, which are in a file named by their digest."""
    digest = image.sha256
    (folder / digest).write_bytes(image.data)
    light = replace(image, data=ELSEWHERE)
    light.__dict__["sha256"] = digest  # what `cached_property` would work out anew
    return light


def _with_light_images(case: Case, folder: Path) -> Case:
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
