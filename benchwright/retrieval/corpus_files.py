"""Documents of a file, whatever it is written in, for a system to search."""

from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory

from benchwright.detection import FileKind, guess, part_of
from benchwright.detection.files import guess_as
from benchwright.detection.rows import document_rows
from benchwright.errors import Problems
from benchwright.files.inputs import FileInput


def corpus_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Id, and title and text, of each document of BEIR's JSON lines, a table, or TREC's documents.

    Read as a stream; also compressed. A table without a header is id and text.

    Raises
    ------
    FileProblemsError
        With the wrong lines, at the end of the file or when there are too many.
    ArchiveError, UnreadableKindError
        If it is damaged or of a kind that is never read.
    """
    given, problems = FileInput(path, str(path)), Problems()
    with TemporaryDirectory(prefix="benchwright-") as unpacked:
        folder = Path(unpacked)
        guessed = guess(given, folder)
        if guessed.kind not in (FileKind.CORPUS, FileKind.DOCUMENTS):
            guessed = guess_as(FileKind.DOCUMENTS, given, folder)
        part = part_of(path.name, guessed)
        for row in document_rows(part, given, folder=folder, problems=problems):
            yield row.docid, f"{row.title}\n{row.text}".strip()
    problems.raise_found()


def file_sha256(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
