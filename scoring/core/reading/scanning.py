"""From a run file straight to its hits: what a run retrieved that the qrels do not name is never
kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks_app.core.problems import Problems
from scoring.core.reading.hits import Judged, QueryHits, find_hits
from scoring.core.reading.loading import read_qrels, read_run


@dataclass(frozen=True)
class GradeTable:
    """Qrels made ready for scanning any number of runs against them."""

    grades: Mapping[bytes, Mapping[bytes, int]]

    @cached_property
    def judged(self) -> dict[bytes, Judged]:
        """The grades of each query, without the documents they are of."""
        return {qid: Judged(tuple(of.values())) for qid, of in self.grades.items()}


def scan_qrels(path: Path, *, problems: Problems | None = None) -> GradeTable:
    """The grades of a TREC qrels file, for `scan_run`; as `read_qrels` refuses and warns."""
    return GradeTable(read_qrels(path, problems=problems))


def scan_run(
    path: Path,
    table: GradeTable,
    *,
    ties: str = "trec",
    depth: int | None = None,
    problems: Problems | None = None,
) -> dict[bytes, QueryHits[bytes]]:
    """Every query of a TREC run file with its hits; refuses and warns as `read_run` does.

    Also the queries without qrels are there, without hits.
    """
    run = read_run(path, problems=problems)
    found = find_hits(table.grades, run, ties=ties, depth=depth)
    return {
        qid: found.get(qid) or QueryHits(qid, (), min(len(rows), depth or len(rows)))
        for qid, rows in run.items()
    }
