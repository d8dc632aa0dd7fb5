"""Runs and qrels of a file in memory, by query; a document may stand there once."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from benchwright.errors import Problems
from benchwright.files.encodings import as_shown
from benchwright.files.sources import open_lines, shown_name
from benchwright.formats import trec
from benchwright.formats.trec import QrelRow, RunRow
from benchwright.reading.shapes import Shape, qrels_shape, read_ranking, read_three_qrels, run_shape

Qrels: TypeAlias = dict[bytes, dict[bytes, int]]
"""Query to document to grade."""

Run: TypeAlias = dict[bytes, list[RunRow]]
"""Query to its results, in the order of the file; one without any was answered with nothing."""

Answered: TypeAlias = Path | str | Iterable[bytes | str]
"""Ids of queries that were answered: themselves, or the path of a file with one a line."""


def read_qrels(path: Path | str, *, problems: Problems | None = None) -> Qrels:
    """The grades of a qrels file: TREC's four columns, or three (query, document, grade).

    It may be plain, gzip or zstd; `-` is standard input. Give `problems` to see the warnings
    afterwards.

    Raises
    ------
    FileProblemsError
        If lines cannot be read, or a document has two grades for one query.
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated.
    """
    problems, path = problems or Problems(), Path(path)
    shape, file, lines = qrels_shape(path), shown_name(path), open_lines(path)
    if shape.kind == "trec":
        rows = trec.read_qrels(lines, file=file, problems=problems)
    else:
        rows = read_three_qrels(lines, shape=shape, file=file, problems=problems)
    qrels = collect_qrels(rows, file=file, problems=problems)
    problems.raise_found()
    return qrels


def read_run(
    path: Path | str, *, problems: Problems | None = None, answered: Answered | None = None
) -> Run:
    """The results of a run file; its queries need not be in blocks.

    A run is TREC's six columns, MS MARCO's three (query, document, rank), JSON or Parquet; plain,
    gzip or zstd; `-` is standard input. A query that was answered with nothing has an empty list:
    JSON and Parquet can say so, and `answered` says it of any run. Give `problems` to see the
    warnings afterwards.

    Raises
    ------
    FileProblemsError
        If lines cannot be read, or a document stands twice in one query.
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated.
    """
    problems, path = problems or Problems(), Path(path)
    run = load_run(path, run_shape(path), problems)
    problems.raise_found()
    for qid in answered_ids(answered):
        run.setdefault(qid, [])
    return run


def load_run(path: Path, shape: Shape, problems: Problems) -> Run:
    """The results of a run of that shape; what is wrong is only told to `problems`."""
    if shape.kind in ("json", "parquet"):
        from benchwright.reading import tables  # rarely needed

        load = tables.load_json if shape.kind == "json" else tables.load_parquet
        return load(path, problems=problems)
    read = read_ranking if shape.kind == "three" else trec.read_run
    rows = read(open_lines(path), file=shown_name(path), problems=problems)
    return collect_run(rows, file=shown_name(path), problems=problems)


def answered_ids(answered: Answered | None) -> list[bytes]:
    """The ids that `answered` gives; of a file, the first column of every line.

    Raises
    ------
    FileProblemsError
        If a line holds more than one column.
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated.
    """
    if answered is None:
        return []
    if not isinstance(answered, str | Path):
        return [qid.encode() if isinstance(qid, str) else qid for qid in answered]
    path, problems = Path(answered), Problems()
    file, ids = shown_name(path), []
    for number, columns in trec.numbered_columns(open_lines(path), file=file, problems=problems):
        ids.append(columns[0])
        if len(columns) > 1:
            text = f"{len(columns)} columns; expected 1, the id of a query that was answered"
            problems.add(file, number, f"{text}. Keep that column only.")
    problems.raise_found()
    return ids


def collect_qrels(rows: Iterable[QrelRow], *, file: str, problems: Problems) -> Qrels:
    """Grades by query and document; a second row of a document is told, the first one kept.

    Two rows of one grade are only warned of.
    """
    first: dict[bytes, dict[bytes, QrelRow]] = {}
    for row in rows:
        known = first.setdefault(row.qid, {}).setdefault(row.docid, row)
        if known is row:
            continue
        if known.grade == row.grade:
            problems.warn(file, row.line, repeated_text(row.qid, row.docid, known.line))
        else:
            text = _told(row.qid, row.docid, known.line)
            reason = f"{text}, with grade {known.grade} and here {row.grade}"
            problems.add(file, row.line, f"{reason}; expected one grade. Drop one of the two.")
    return {
        qid: {docid: row.grade for docid, row in documents.items()}
        for qid, documents in first.items()
    }


def collect_run(rows: Iterable[RunRow], *, file: str, problems: Problems) -> Run:
    """Results by query; a second row of a document is told, the first one kept."""
    first: dict[bytes, dict[bytes, RunRow]] = {}
    for row in rows:
        known = first.setdefault(row.qid, {}).setdefault(row.docid, row)
        if known is not row:
            problems.add(file, row.line, duplicate_text(row.qid, row.docid, known.line))
    return {qid: list(documents.values()) for qid, documents in first.items()}


def duplicate_text(qid: bytes, docid: bytes, first: int) -> str:
    """What is said of a document that a query of a run has twice; `first` is its first line."""
    return f"{_told(qid, docid, first)}; expected it once a query. Drop one of the two."


def repeated_text(qid: bytes, docid: bytes, first: int) -> str:
    """What is said of a second row of qrels that says the same as the first."""
    return f"{_told(qid, docid, first)}, with the same grade. Drop one of the two."


def _told(qid: bytes, docid: bytes, first: int) -> str:
    document, query = map(as_shown, (docid, qid))
    return f"document '{document}' of query '{query}' was in line {first} already"
