"""The rows of a file as they are sent from one process to another, and what is wrong with them.

A run is written as Parquet where it is read, and a small file is sent as a whole.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any

from benchwright.detection import FileKind, Part, rows
from benchwright.errors import FileProblemsError, News, Problems, ToldProblems
from benchwright.files.inputs import Input
from benchwright.files.sources import stream_lines
from benchwright.formats.beir import CorpusRow, GradedRow, QueryRow
from benchwright.formats.mapped import ResultRow
from benchwright.formats.pairs import Members, read_families, read_slices, read_weights
from benchwright.formats.trec import read_run
from benchwright.runs.intake import Intake, Taken, Terms
from benchwright.runs.metadata import read_metadata_text, read_run_metadata
from benchwright.sandbox import reader
from benchwright.uploads.looks import Place, input_at, warn_of_open_end

DOCUMENTS, QUERIES, QRELS, RESULTS, LINES = "documents", "queries", "qrels", "results", "lines"
_READ: dict[str, Callable[..., Iterable[Any]]] = {
    DOCUMENTS: rows.document_rows,
    QUERIES: rows.query_rows,
    QRELS: rows.qrel_rows,
    RESULTS: rows.run_rows,
}
_DATACLASSES = {QUERIES: QueryRow, QRELS: GradedRow}
_MADE: dict[str, Callable[..., Any]] = {
    **_DATACLASSES,
    DOCUMENTS: CorpusRow,
    RESULTS: ResultRow,
    LINES: lambda *columns: columns,
}


@reader
def sent_rows(
    what: str, place: Place, part: Part, folder: Path, *, limit: int, leaves_out: bool
) -> Iterator[tuple[Any, ...] | News]:
    """Yield the rows of a file as tuples, and problems as `News` before the row that follows them.

    `folder` is for what must be unpacked. At `limit` problems the rows end.
    """
    problems = ToldProblems(limit, leaves_out=leaves_out)
    rows = _rows(what, place, part, folder, problems)
    yield from with_news(_rows_to_end(input_at(place), rows, problems), problems)


def with_news(rows: Iterable[Any], problems: ToldProblems) -> Iterator[Any]:
    """Yield rows, and problems as `News` before the row after them; at the limit they end."""
    try:
        for row in rows:
            if problems.has_news:
                yield problems.news()
            yield row
    except FileProblemsError:
        if not problems.is_full:
            raise
    if problems.has_news:
        yield problems.news()


def _rows_to_end(file: Input, rows: Iterable[Any], problems: Problems) -> Iterator[Any]:
    yield from rows
    warn_of_open_end(file, problems)


def _rows(
    what: str, place: Place, part: Part, folder: Path, problems: Problems
) -> Iterable[tuple[Any, ...]]:
    file = input_at(place)
    if what == LINES:
        return map(tuple, read_run(file.lines(), file=file.shown, problems=problems))
    read = _READ[what](part, file, folder=folder, problems=problems)
    if what not in _DATACLASSES:
        return map(tuple, read)
    return map(attrgetter(*(field.name for field in fields(_DATACLASSES[what]))), read)


def received(sent: Iterable[Any], problems: Problems) -> Iterator[Any]:
    """Yield what was sent, and keep the problems that come between; raises as they do."""
    for row in sent:
        if isinstance(row, News):
            problems.take(row)
        else:
            yield row


def received_rows(
    what: str, sent: Iterable[tuple[Any, ...] | News], problems: Problems
) -> Iterator[Any]:
    """The rows as the readers of formats yield them; problems that come between them are kept.

    Raises
    ------
    FileProblemsError
        When `problems` has reached its limit.
    """
    row_class = _MADE[what]
    return (row_class(*row) for row in received(sent, problems))


@reader
def pairs_said(
    place: Place, kind: FileKind, *, limit: int, leaves_out: bool
) -> tuple[dict[str, Any], News]:
    """The families, or the weights, of a file by query id."""
    file = input_at(place)
    problems = ToldProblems(limit, leaves_out=leaves_out)
    read = read_families if kind is FileKind.FAMILIES else read_weights
    pairs: dict[str, Any] = dict(read(file.lines(), file=file.shown, problems=problems))
    warn_of_open_end(file, problems)
    return pairs, problems.news()


@reader
def slices_said(
    place: Place, known: set[str], refusals: dict[str, str], *, limit: int, leaves_out: bool
) -> tuple[Members, News]:
    """The queries of each slice of a file; `refusals` say why a slice takes none, by its name."""
    file = input_at(place)
    problems = ToldProblems(limit, leaves_out=leaves_out)
    members = read_slices(
        file.lines(),
        file=file.shown,
        problems=problems,
        known=known,
        refusal=lambda name: refusals.get(name, ""),
    )
    warn_of_open_end(file, problems)
    return members, problems.news()


@reader
def take_run(
    place: Place, part: Part, terms: Terms, *, progress: Callable[[int, int | None], None]
) -> Taken:
    """Write a run, of TREC's format or a table, as Parquet into the folder of `terms`.

    Raises
    ------
    FileProblemsError
        With every line that cannot be read, as soon as they are too many.
    RunTooDeepError
        As soon as a query has more documents than are taken.
    """
    file, problems = input_at(place), ToldProblems()
    terms.folder.mkdir(parents=True, exist_ok=True)
    intake = Intake(terms, problems, progress)
    if part.kind is not FileKind.RUN:
        read = rows.run_rows(part, file, folder=terms.folder, problems=problems)
        summary = intake.of_rows(read)
        warn_of_open_end(file, problems)
        return Taken(summary, intake.seen_extra, problems.news())
    with file.opened() as stream:
        metadata = read_run_metadata(stream, file=file.shown, problems=problems)
    with file.opened() as stream:
        summary = intake.of_stream(stream)
    warn_of_open_end(file, problems)
    return Taken(summary, intake.seen_extra, problems.news(), metadata)


# --- small files that a form brought -------------------------------------------------------------


@reader
def lines_of(content: bytes, name: str) -> list[bytes]:
    """The lines of a file, inflated where it is compressed."""
    stream = io.BufferedReader(io.BytesIO(content))  # type: ignore[arg-type,unused-ignore]
    return list(stream_lines(stream, file=name, compressed=len(content)))


@reader
def metadata_of(content: bytes, name: str) -> dict[str, Any]:
    """The tree of an ir_metadata file; raises as `read_metadata_text` does."""
    return read_metadata_text(content, file=name)
