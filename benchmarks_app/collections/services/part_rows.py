"""The rows of each file of an import, whatever it is written in: read apart, taken in here."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from benchmarks_app.collections.services.staging import Import
from benchmarks_app.common.services import reading_apart
from benchmarks_app.models import Unit
from benchwright.detection import FileKind, Part
from benchwright.errors import Problems
from benchwright.formats.beir import CorpusRow, GradedRow, QueryRow
from benchwright.formats.mapped import ResultRow, query_key
from benchwright.uploads import Place, row_streams

Row = TypeVar("Row", QueryRow, GradedRow)


class PartFile(Protocol):
    """A file at work."""

    @property
    def part(self) -> Part: ...
    @property
    def place(self) -> Place: ...


def document_rows(
    work: Import, file: PartFile, *, problems: Problems | None = None
) -> Iterator[CorpusRow]:
    """The documents of a corpus file."""
    has_parents = work.benchmark.corpus.unit == Unit.PASSAGE
    for row in _rows(work, file, row_streams.DOCUMENTS, problems):
        yield row if has_parents or not row.parent else row._replace(parent="")


def query_rows(
    work: Import, file: PartFile, *, problems: Problems | None = None
) -> Iterator[QueryRow]:
    """The queries of a file of queries."""
    return _with_ids_here(work, file, _rows(work, file, row_streams.QUERIES, problems))


def qrel_rows(
    work: Import, file: PartFile, *, problems: Problems | None = None
) -> Iterator[GradedRow]:
    """The grades of a file of qrels."""
    return _with_ids_here(work, file, _rows(work, file, row_streams.QRELS, problems))


def _with_ids_here(work: Import, file: PartFile, rows: Iterator[Row]) -> Iterator[Row]:
    """The rows; where a query has no id but its text, with that of the query of the same text."""
    if file.part.kind is not FileKind.JUDGED:
        yield from rows
        return
    queries = work.benchmark.queries.committed().in_words_alone().values_list("text", "qid")
    here = {query_key(text): (qid, text) for text, qid in queries.iterator()}
    for row in rows:
        if row.qid not in here:
            yield row
            continue
        qid, text = here[row.qid]
        # Blanks between its words may be others.
        more: dict[str, Any] = {"text": text} if isinstance(row, QueryRow) else {}
        yield replace(row, qid=qid, **more)


def run_rows(
    work: Import, file: PartFile, *, problems: Problems | None = None
) -> Iterator[ResultRow]:
    """The results of a run that is a table."""
    return _rows(work, file, row_streams.RESULTS, problems)


def run_lines(work: Import, file: PartFile, *, problems: Problems) -> Iterator[Any]:
    """The columns of a TREC run."""
    return _rows(work, file, row_streams.LINES, problems)


def said_apart(problems: Problems, function: Any, place: Place, *arguments: Any) -> Any:
    """What a reader says of a small file as a whole, once its problems were taken."""
    result, news = reading_apart.call(
        function,
        place,
        *arguments,
        file=place.shown,
        is_job=True,
        **_terms(problems, place.shown),
    )
    problems.take(news)
    return result


def _rows(work: Import, file: PartFile, what: str, problems: Problems | None) -> Iterator[Any]:
    # Not before it is asked for a row: a reader is busy as long as its rows are wanted.
    warnings = work.problems if problems is None else problems
    stream = reading_apart.stream(
        row_streams.sent_rows,
        what,
        file.place,
        file.part,
        work.job.folder,
        file=file.place.shown,
        **_terms(warnings, file.place.shown),
    )
    yield from row_streams.received_rows(what, stream, warnings)


def _terms(problems: Problems, file: str) -> dict[str, Any]:
    """How many more problems are taken, and whether bad records of a file are left out."""
    limit = max(1, problems.limit - len(problems.found))
    return {"limit": limit, "leaves_out": problems.does_without(file)}
