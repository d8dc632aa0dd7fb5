"""Looking at an upload: what its files seem to be, and their rows."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchwright.detection import CONTENT_OF, Part, parts_of_collection
from benchwright.files.archives import open_source
from benchwright.files.inputs import FileInput, Input, MemberInput
from benchwright.formats.unlisted import UNKNOWN, manifest_unlisted
from benchwright.sandbox import reader
from benchwright.uploads.at_file import look_at_file
from benchwright.uploads.looks import Looks, Place, is_collection, printable
from benchwright.uploads.parts import guessed_part


@reader
def look_at(
    place: Place,
    parts: Sequence[Part] | None,
    *,
    has_passages: bool,
    is_short: bool,
    is_whole: bool,
) -> Looks:
    """Look at a file, or at every file of a collection: as the content tells, or as `parts` say.

    With `is_short` it tells the kinds alone, without rows; with `is_whole` it reads to the end.
    """
    is_several = is_collection(place.path)
    with _files(place, is_several, parts) as (files, folder):
        looks = tuple(
            printable(
                look_at_file(
                    file,
                    part,
                    folder,
                    has_passages=has_passages,
                    is_short=is_short,
                    is_whole=is_whole,
                )
            )
            for file, part in files
        )
    unlisted = UNKNOWN
    if is_several and not is_short:
        with open_source(place.path) as source:
            unlisted = manifest_unlisted(source)
    return Looks(looks, is_several, unlisted)


@contextmanager
def _files(
    place: Place, is_several: bool, parts: Sequence[Part] | None
) -> Iterator[tuple[list[tuple[Input, Part]], Path]]:
    with TemporaryDirectory(prefix="benchwright-look-") as name:
        folder = Path(name)
        if not is_several:
            file = FileInput(place.path, place.name)
            part = parts[0] if parts else Part("", None)
            yield [(file, _completed(file, part, folder, is_asked=not parts))], folder
            return
        with open_source(place.path) as source:
            found_parts = parts_of_collection(source, folder) if parts is None else parts
            inputs = [MemberInput(source, part.member) for part in found_parts]
            yield (
                [
                    (file, _completed(file, part, folder, is_asked=False))
                    for file, part in zip(inputs, found_parts, strict=True)
                ],
                folder,
            )


def _completed(file: Input, part: Part, folder: Path, *, is_asked: bool) -> Part:
    """A part with its columns guessed where nobody has said them yet."""
    needs = part.kind in CONTENT_OF and not part.mapping
    return guessed_part(file, part, folder) if is_asked or needs else part
