"""Runs and qrels of a file in memory, by query; a document may stand there once."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from benchmarks_app.core.formats import trec
from benchmarks_app.core.formats.sources import open_lines
from benchmarks_app.core.formats.trec import QrelRow, RunRow
from benchmarks_app.core.problems import Problems

Qrels: TypeAlias = dict[bytes, dict[bytes, int]]
"""Query to document to grade."""

Run: TypeAlias = dict[bytes, list[RunRow]]
"""Query to its results, in the order of the file."""


def read_qrels(path: Path, *, problems: Problems | None = None) -> Qrels:
    """The grades of a TREC qrels file, plain or gzip.

    Give `problems` to see the warnings afterwards.

    Raises
    ------
    FileProblemsError
        If lines cannot be read, or a document has two grades for one query.
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated.
    """
    problems = problems or Problems()
    rows = trec.read_qrels(open_lines(path), file=path.name, problems=problems)
    qrels = collect_qrels(rows, file=path.name, problems=problems)
    problems.raise_found()
    return qrels


def read_run(path: Path, *, problems: Problems | None = None) -> Run:
    """The results of a TREC run file, plain or gzip; its queries need not be in blocks.

    Give `problems` to see the warnings afterwards.

    Raises
    ------
    FileProblemsError
        If lines cannot be read, or a document stands twice in one query.
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated.
    """
    problems = problems or Problems()
    rows = trec.read_run(open_lines(path), file=path.name, problems=problems)
    run = collect_run(rows, file=path.name, problems=problems)
    problems.raise_found()
    return run


def collect_qrels(rows: Iterable[QrelRow], *, file: str, problems: Problems) -> Qrels:
    """Grades by query and document; a second row of a document is told, the first one kept.

    Two rows of one grade are only warned of.
    """
    first: dict[bytes, dict[bytes, QrelRow]] = {}
    for row in rows:
        known = first.setdefault(row.qid, {}).setdefault(row.docid, row)
        if known is row:
            continue
        told = f"{_document(row)} was in line {known.line} already"
        if known.grade == row.grade:
            problems.warn(file, row.line, f"{told}, with the same grade. Drop one of the two.")
        else:
            reason = f"{told}, with grade {known.grade} and here {row.grade}"
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
            told = f"{_document(row)} was in line {known.line} already; expected it once a query. "
            problems.add(file, row.line, told + "Drop one of the two.")
    return {qid: list(documents.values()) for qid, documents in first.items()}


def _document(row: QrelRow | RunRow) -> str:
    docid, qid = (name.decode("utf-8", "backslashreplace") for name in (row.docid, row.qid))
    return f"document '{docid}' of query '{qid}'"
