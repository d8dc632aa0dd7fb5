"""How the files of an upload are to be read: as their content tells and as somebody says."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchwright.detection import FileKind, Part, guess, guess_as, part_of, parts_of_collection
from benchwright.detection.kinds import CONTENT_OF, KIND_LABELS
from benchwright.files.archives import open_source
from benchwright.files.inputs import FileInput, Input
from benchwright.formats.errors import MappingError, UnknownKindError
from benchwright.formats.mapping import EVERY_ROW
from benchwright.formats.unlisted import UNKNOWN, manifest_unlisted
from benchwright.releases.machines import manifest_kind
from benchwright.sandbox import reader
from benchwright.uploads.looks import Place, is_collection


@reader
def completed_parts(place: Place, part: Part) -> list[Part]:
    """The part of a lone file, with what its content tells and the caller did not say.

    Of a collection it can be said that every row of the tables without grades is relevant.

    Raises
    ------
    UnknownKindError
        If its content does not tell of what kind it is.
    MappingError
        If columns are mapped, and the file holds several or names its columns itself.
    """
    if is_collection(place.path):
        return _completed_collection(place, part)
    with TemporaryDirectory(prefix="benchwright-look-") as folder:
        guess = guessed_part(FileInput(place.path, place.name), part, Path(folder))
    if guess.kind is None:
        raise UnknownKindError(file=place.name)
    is_chosen = dict(part.mapping) not in ({}, {"grade": EVERY_ROW})
    if is_chosen and guess.kind not in (*CONTENT_OF, FileKind.PASSAGES):
        kind = KIND_LABELS[guess.kind]
        reason = f"{place.name} is read as '{kind}', whose columns have names of their own"
        tables = "documents, queries, qrel-table or run-table"
        raise MappingError(reason=f"{reason}. Say that it is {tables}, or choose no columns")
    return [guess]


def _completed_collection(place: Place, part: Part) -> list[Part]:
    if not part.mapping:
        return [Part("", FileKind.BEIR)]
    if dict(part.mapping) != {"grade": EVERY_ROW}:
        reason = "columns are mapped in one file, and this one holds several. Give them one by one"
        raise MappingError(reason=f"{reason}, or map them on the import page")
    with (
        TemporaryDirectory(prefix="benchwright-look-") as folder,
        open_source(place.path) as source,
    ):
        parts = parts_of_collection(source, Path(folder))
    return [
        replace(part, mapping={"grade": EVERY_ROW, **part.mapping})
        if part.kind is FileKind.QREL_TABLE
        else part
        for part in parts
    ]


@reader
def parts_to_import(
    place: Place, parts: Sequence[Part], kind: FileKind | None, folder: Path
) -> tuple[list[Part], str, str]:
    """The parts of an upload, and what the manifest of an export says of its qrels.

    That is what documents are that they do not list, and whether a machine or clicks gave them.

    `parts` are those that somebody has looked at; without them, `kind` or the content tells.
    """
    if parts and not parts[0].member:
        return [parts[0]], UNKNOWN, ""
    if parts or kind is FileKind.BEIR or (kind is None and is_collection(place.path)):
        with open_source(place.path) as source:
            found_parts = list(parts) or parts_of_collection(source, folder)
            return found_parts, manifest_unlisted(source), manifest_kind(source)
    part = guessed_part(FileInput(place.path, place.name), Part("", kind), folder)
    return [part], UNKNOWN, ""


def guessed_part(file: Input, part: Part, folder: Path) -> Part:
    """A part with what its file's content tells and `part` does not say."""
    if part.kind is None:
        part_found = part_of(part.member, guess(file, folder))
    else:
        part_found = part_of(
            part.member, guess_as(part.kind, file, folder, has_header=part.has_header)
        )
    choices = dict(part.mapping)
    if choices == {"grade": EVERY_ROW} and part_found.kind is not FileKind.QREL_TABLE:
        choices = {}  # of the qrels among several files
    guessed = {
        name: column
        for name, column in part_found.mapping.items()
        if column not in choices.values()
    }
    return Part(
        member=part.member,
        kind=part_found.kind,
        mapping={**guessed, **choices},
        split=part.split,
        lang=part.lang or part_found.lang,
        has_header=part_found.has_header if part.has_header is None else part.has_header,
        note=part_found.note,
        is_rest=part.is_rest,
    )
