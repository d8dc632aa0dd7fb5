"""What somebody submits: the form of a run, told by its content, and checked to the end.

TREC runs, three columns (query, document, rank), tables with named columns, Parquet and one JSON
object are taken, each also as gzip or zstd. Whatever is none of the others is read as a TREC run,
which tells line by line what it lacks.
"""

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchwright.detection import CONTENT_OF, FileKind, Guess, guess, guess_as, refuse_foreign
from benchwright.errors import BenchmarkError, FileProblemsError, Problems, ToldProblems
from benchwright.files.inputs import FileInput
from benchwright.files.sources import CHUNK, inflated
from benchwright.formats.mapped import ResultRow, run_rows
from benchwright.formats.mapping import checked
from benchwright.formats.tables import Form, head_of, records
from benchwright.runs.intake import Intake, Taken, Terms
from benchwright.runs.json_runs import is_json_run, json_run_rows
from benchwright.runs.metadata import read_run_metadata
from benchwright.sandbox import reader
from benchwright.uploads import Place

Tell = Callable[[int, int], None]
LINES_LOOKED_AT = 50
READ, WRITTEN = "read", "written"


@reader
def take_submitted(
    place: Place,
    folder: Path,
    terms: Terms,
    *,
    leaves_out: bool = False,
    progress: Callable[[str, int, int], None],
) -> Taken:
    """Check a submitted file and write it as Parquet into the folder of `terms`.

    `folder` is for what must be unpacked; `progress` is told what was read, in bytes as they are
    stored, and what was written, in rows. With `leaves_out`, bad lines are left out of what is
    written, and named in the news; of one JSON object, which has no lines, nothing is.

    Raises
    ------
    BenchmarkError
        With every line that is wrong, or what is wrong with the file as a whole.
    """
    file = FollowedInput(place.path, place.name, lambda done, total: progress(READ, done, total))
    form = _form_of(file, folder)
    is_object = isinstance(form, _JsonObject)
    problems = ToldProblems(leaves_out=leaves_out and not is_object)
    terms.folder.mkdir(parents=True, exist_ok=True)
    intake = Intake(
        terms, problems, lambda done, total: progress(WRITTEN, done, total) if total else None
    )
    if form is not None:
        try:
            summary = intake.of_rows(_rows(file, form, folder, problems))
        except FileProblemsError as error:
            if is_object:
                raise JsonProblemsError(problems=error.problems, is_cut=error.is_cut) from None
            raise
        return Taken(summary, intake.seen_extra, problems.news())
    with file.opened() as stream:
        metadata = read_run_metadata(stream, file=file.shown, problems=problems)
    with file.opened() as stream:
        summary = intake.of_stream(stream)
    return Taken(summary, intake.seen_extra, problems.news(), metadata)


class FollowedInput(FileInput):
    """A file that tells how much of it was read, in bytes as they are stored."""

    def __init__(self, path: Path, name: str, tell: Tell) -> None:
        super().__init__(path, name)
        self.tell, self.n_told = tell, 0

    @contextmanager
    def opened(self) -> Iterator["io.BufferedReader[Any]"]:
        size = self.path.stat().st_size
        with self.path.open("rb", buffering=0) as raw:
            counted = io.BufferedReader(_Counted(raw, size, self._see), CHUNK)
            with inflated(counted, file=self.shown, compressed=size) as stream:
                yield stream

    def _see(self, done: int, total: int) -> None:
        """Tell what is new: a file is opened more than once."""
        if done > self.n_told:
            self.n_told = done
            self.tell(done, total)


class _Counted(io.RawIOBase):
    def __init__(self, raw: io.FileIO, size: int, tell: Tell) -> None:
        super().__init__()
        self.raw, self.size, self.tell_read, self.n_read = raw, size, tell, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self.raw.readinto(buffer) or 0
        self.n_read += n
        self.tell_read(self.n_read, self.size)
        return n


class _JsonObject:
    """Stands for a run that is one JSON object, which has no columns to guess."""


def _form_of(file: FollowedInput, folder: Path) -> Guess | _JsonObject | None:
    """How a table is read, or `_JsonObject`; None for a TREC run."""
    head = head_of(file)
    if is_json_run(head.start):
        return _JsonObject()
    refuse_foreign(head, file.shown)
    is_binary = head.is_parquet or head.is_sheet
    if is_binary or head.start.lstrip().startswith((b"{", b"[")):
        form = guess_as(FileKind.RUN_TABLE, file, folder)
        if not is_binary and not {"query", "document"} <= form.mapping.keys():
            raise JsonShapeError(file=file.shown)
        return form
    lines = [line for line in head.lines if line.strip() and not line.startswith(b"#")]
    widths = Counter(len(line.split()) for line in lines[:LINES_LOOKED_AT])
    width = widths.most_common(1)[0][0] if widths else 0
    if width == 3 and not any(mark in lines[0] for mark in b",;"):
        return _of_three_columns(guess_as(FileKind.RUN_TABLE, file, folder), lines)
    if width >= 5 or not lines:
        return None
    form = guess(file, folder)
    is_named = form.layout is not None and form.layout.has_header
    of_pairs = form.kind in (FileKind.RUN_TABLE, FileKind.QREL_TABLE)
    return guess_as(FileKind.RUN_TABLE, file, folder) if is_named and of_pairs else None


def _of_three_columns(form: Guess, lines: list[bytes]) -> Guess:
    """The third column is the rank where it is whole numbers that begin at 0 or 1, else a score."""
    if form.layout is None or form.layout.has_header or form.layout.form is Form.CSV:
        return form
    columns = form.layout.columns
    thirds = [line.split()[2] for line in lines[:LINES_LOOKED_AT] if len(line.split()) == 3]
    is_rank = all(third.isdigit() for third in thirds)
    names = ("query", "document", "rank" if is_rank else "score")
    return replace(form, mapping=dict(zip(names, columns, strict=True)))


def _rows(
    file: FollowedInput, form: Guess | _JsonObject, folder: Path, problems: Problems
) -> Iterable[ResultRow]:
    if isinstance(form, _JsonObject):
        return json_run_rows(file, problems=problems)
    if form.layout is None:  # a guess that was asked for as a table always has one
        return ()
    mapping = checked(CONTENT_OF[FileKind.RUN_TABLE], form.mapping, form.layout.columns)
    numbered = records(file, form.layout, folder=folder, problems=problems)
    rows = run_rows(numbered, mapping, file=file.shown, problems=problems)
    return rows if "score" in mapping else _from_one(rows, file.shown)


def _from_one(rows: Iterable[ResultRow], file: str) -> Iterator[ResultRow]:
    """Rows whose ranks begin at 0 or 1 in each query; scores are ranks, negative.

    Whole numbers that begin elsewhere are scores, and read as ranks they would turn every ranking
    upside down.
    """
    best: dict[str, ResultRow] = {}
    for row in rows:
        if row.qid not in best or row.score > best[row.qid].score:
            best[row.qid] = row
        yield row
    for row in best.values():
        if row.score < -1:
            raise RanksError(file=file, line=row.line, query=row.qid, rank=int(-row.score))


class JsonProblemsError(FileProblemsError, code="run-json-problems"):
    """What is wrong with a run that is one JSON object: no line of it can be left out."""


class RanksError(BenchmarkError, code="run-ranks"):
    message = (
        "{file}:{line}: the ranks of query '{query}' begin at {rank}; expected 1. If the column "
        "holds scores, write a TREC run: qid Q0 docid rank score tag."
    )


class JsonShapeError(BenchmarkError, code="run-json-shape"):
    message = (
        "{file} is JSON of another shape than runs have. Write one object, "
        '{{"q1": {{"d1": 12.5}}}}, or JSON lines: an object a result with query, document and '
        "score."
    )
