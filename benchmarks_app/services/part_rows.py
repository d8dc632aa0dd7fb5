"""The rows of each file of an import, whatever it is written in."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from benchmarks_app.core.detection import Part
from benchmarks_app.core.formats.beir import CorpusRow, QrelRow, QueryRow
from benchmarks_app.core.formats.inputs import Input
from benchmarks_app.core.formats.mapped import ResultRow
from benchmarks_app.core.loading import rows
from benchmarks_app.core.problems import Problems
from benchmarks_app.models import Unit
from benchmarks_app.services.staging import Import


class PartFile(Protocol):
    """A file at work."""

    @property
    def part(self) -> Part: ...
    @property
    def given(self) -> Input: ...


def document_rows(
    work: Import, file: PartFile, *, problems: Problems | None = None
) -> Iterator[CorpusRow]:
    """The documents of a corpus file."""
    has_parents = work.benchmark.corpus.unit == Unit.PASSAGE
    told = problems or work.problems
    found = rows.document_rows(file.part, file.given, folder=work.job.folder, problems=told)
    for row in found:
        yield row if has_parents or not row.parent else replace(row, parent="")


def query_rows(
    work: Import, file: PartFile, *, problems: Problems | None = None
) -> Iterable[QueryRow]:
    """The queries of a file of queries."""
    told = problems or work.problems
    return rows.query_rows(file.part, file.given, folder=work.job.folder, problems=told)


def qrel_rows(
    work: Import, file: PartFile, *, problems: Problems | None = None
) -> Iterable[QrelRow]:
    """The grades of a file of qrels."""
    told = problems or work.problems
    return rows.qrel_rows(file.part, file.given, folder=work.job.folder, problems=told)


def run_rows(
    work: Import, file: PartFile, *, problems: Problems | None = None
) -> Iterable[ResultRow]:
    """The results of a run that is a table."""
    told = problems or work.problems
    return rows.run_rows(file.part, file.given, folder=work.job.folder, problems=told)
