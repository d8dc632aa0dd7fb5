"""From a run file straight to its hits: what a run retrieved that the qrels do not name is never
kept.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from benchwright.errors import Problems
from benchwright.reading import driving
from benchwright.reading.choosing import extension
from benchwright.reading.hits import Judged, QueryHits, find_hits
from benchwright.reading.loading import Answered, answered_ids, load_run, read_qrels
from benchwright.reading.ranking import check_ties
from benchwright.reading.shapes import Shape, qrels_shape, run_shape

if TYPE_CHECKING:
    from benchwright.reading._scanner import Table

Hits = dict[bytes, QueryHits[bytes]]


class GradeTable:
    """Qrels made ready for scanning any number of runs against them."""

    def __init__(self, grades: Mapping[bytes, Mapping[bytes, int]]) -> None:
        self.grades = grades

    @classmethod
    def of_compiled(cls, table: "Table") -> Self:
        """What the extension compiled from a file; `grades` are made of it when asked for."""
        table_of_grades = cls.__new__(cls)
        table_of_grades.compiled = table
        return table_of_grades

    @cached_property
    def grades(self) -> Mapping[bytes, Mapping[bytes, int]]:
        """Query to document to grade."""
        assert self.compiled is not None
        return self.compiled.documents()

    @cached_property
    def compiled(self) -> "Table | None":
        """The same for the extension; None without it, or if it does not take these grades."""
        return driving.compiled(self.grades)

    @cached_property
    def judged(self) -> dict[bytes, Judged]:
        """The grades of each query, without the documents they are of."""
        if "grades" in self.__dict__ or self.compiled is None:
            return {qid: Judged(tuple(of.values())) for qid, of in self.grades.items()}
        return {qid: Judged(grades) for qid, grades in self.compiled.grades().items()}


def scan_qrels(path: Path, *, problems: Problems | None = None) -> GradeTable:
    """The grades of a qrels file, for `scan_run`; refuses and warns as `read_qrels` does."""
    problems = problems or Problems()
    shape = qrels_shape(path)
    table = driving.scan_table(path, shape=shape, problems=problems)
    if table is not None:
        problems.raise_found()
        return GradeTable.of_compiled(table)
    from benchwright.reading import twin  # where the extension reads, it is not loaded

    grades = twin.scan_grades(path) if shape.kind == "trec" else None
    if grades is None:
        grades = read_qrels(path, problems=problems)
    problems.raise_found()
    return GradeTable(grades)


def scan_run(
    path: Path,
    table: GradeTable,
    *,
    ties: str = "trec",
    depth: int | None = None,
    problems: Problems | None = None,
    answered: Answered | None = None,
) -> Hits:
    """Every query of a run file with its hits; refuses and warns as `read_run` does.

    Also the queries without qrels are there, without hits, and those answered with nothing, which
    JSON and Parquet runs tell and `answered` says of any. No more than one query's results are held
    at a time, unless a query comes back later in the file: then all of them are, to the end.

    Raises
    ------
    UnknownTieRuleError, CutoffError, ExpectedDepthError
        If the rules are none, or do not go together.
    FileProblemsError
        If lines cannot be read, or a document stands twice in one query.
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated.
    """
    check_ties(ties, depth)
    problems = problems or Problems()
    shape = run_shape(path)
    if shape.kind in ("json", "parquet"):
        hits = _loaded(path, table, shape, ties, depth, problems)
    else:
        hits = _scanned(path, table, shape, ties, depth, problems)
    problems.raise_found()
    for qid in answered_ids(answered):
        hits.setdefault(qid, QueryHits(qid, (), 0))
    return hits


def _scanned(
    path: Path, table: GradeTable, shape: Shape, ties: str, depth: int | None, problems: Problems
) -> Hits:
    if extension() and table.compiled:
        hits = driving.scan(
            path, table.compiled, shape=shape, ties=ties, depth=depth, problems=problems
        )
        if hits is not None:
            return hits
    from benchwright.reading import twin  # where the extension reads, it is not loaded

    return twin.scan(path, table.grades, shape=shape, ties=ties, depth=depth, problems=problems)


def _loaded(
    path: Path, table: GradeTable, shape: Shape, ties: str, depth: int | None, problems: Problems
) -> Hits:
    run = load_run(path, shape, problems)
    hits = find_hits(table.grades, run, ties=ties, depth=depth)
    return {
        qid: hits.get(qid) or QueryHits(qid, (), min(len(rows), depth or len(rows)))
        for qid, rows in run.items()
    }
