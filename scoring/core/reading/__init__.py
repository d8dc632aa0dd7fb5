"""From files to hits: all that a measure needs to know of a run and of qrels."""

from scoring.core.reading.hits import Hit, Judged, QueryHits, find_hits
from scoring.core.reading.loading import (
    Qrels,
    Run,
    collect_qrels,
    collect_run,
    load_qrels,
    load_run,
)
from scoring.core.reading.ranking import TIE_RULES, ranked

__all__ = [
    "TIE_RULES",
    "Hit",
    "Judged",
    "Qrels",
    "QueryHits",
    "Run",
    "collect_qrels",
    "collect_run",
    "find_hits",
    "load_qrels",
    "load_run",
    "ranked",
]
