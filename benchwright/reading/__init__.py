"""From files to hits: all that a measure needs to know of a run and of qrels."""

from benchwright.reading.choosing import scanner_name
from benchwright.reading.hits import (
    Hit,
    Judged,
    QueryHits,
    TieGroup,
    find_hits,
    judged_by,
    with_unlisted,
)
from benchwright.reading.loading import Qrels, Run, collect_qrels, collect_run, read_qrels, read_run
from benchwright.reading.ranking import TIE_RULES, ranked
from benchwright.reading.scanning import GradeTable, scan_qrels, scan_run

__all__ = [
    "TIE_RULES",
    "GradeTable",
    "Hit",
    "Judged",
    "Qrels",
    "QueryHits",
    "Run",
    "TieGroup",
    "collect_qrels",
    "collect_run",
    "find_hits",
    "judged_by",
    "ranked",
    "read_qrels",
    "read_run",
    "scan_qrels",
    "scan_run",
    "scanner_name",
    "with_unlisted",
]
