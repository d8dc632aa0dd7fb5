"""Two runs query by query: where one is better, and by how much."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks_app.models import Release
from benchwright.statistics.effects import TIE
from scoring.comparisons.services.numbers import values_of
from scoring.models import ScoreSet
from scoring.scores.selectors.releases import release_query_texts
from scoring.scores.services.firewall import Sight
from scoring.scores.services.scoring import Target
from scoring.scores.services.slice_scores import slices_of_release

ORDERS = ("largest", "worst", "best")


@dataclass(frozen=True)
class QueryDifference:
    """A query's values by one measure; `difference` is run minus reference."""

    qid: str
    text: str
    run: float
    reference: float

    @property
    def difference(self) -> float:
        return self.run - self.reference

    @property
    def outcome(self) -> str:
        """win, tie or loss of the run."""
        if abs(self.difference) < TIE:
            return "tie"
        return "win" if self.difference > 0 else "loss"


@dataclass(frozen=True)
class Wanted:
    """Which queries, in which order: of a slice, with these letters in text or id."""

    slice_name: str = ""
    letters: str = ""
    order: str = "largest"


def query_differences(
    *,
    run: ScoreSet,
    reference: ScoreSet,
    measure: str,
    sight: Sight,
    wanted: Wanted | None = None,
) -> list[QueryDifference]:
    """The queries somebody may see values of; where either value is undefined, the query is out.

    By the size of the difference, the run's losses first, or its wins first; equal ones by id.
    """
    filters, release = wanted or Wanted(), run.release
    target = Target.of(release)
    ours, theirs = (values_of(score_set, [measure], target) for score_set in (run, reference))
    texts = release_query_texts(release)
    qids = _only(sight.seen(sorted(ours, key=str.encode)), release, filters, texts)
    rows = [
        QueryDifference(qid, texts.get(qid, ""), ours[qid][measure], theirs[qid][measure])
        for qid in qids
    ]
    return _ordered([row for row in rows if row.difference == row.difference], filters.order)


def _only(
    qids: Sequence[str], release: Release, filters: Wanted, texts: Mapping[str, str]
) -> list[str]:
    inside = slices_of_release(release).get(filters.slice_name, frozenset())
    letters = filters.letters.casefold()
    return [
        qid
        for qid in qids
        if (not filters.slice_name or qid in inside)
        and (letters in qid.casefold() or letters in texts.get(qid, "").casefold())
    ]


def _ordered(rows: Iterable[QueryDifference], order: str) -> list[QueryDifference]:
    if order == "worst":
        return sorted(rows, key=lambda row: row.difference)
    if order == "best":
        return sorted(rows, key=lambda row: -row.difference)
    return sorted(rows, key=lambda row: -abs(row.difference))


def neighbours(rows: Sequence[QueryDifference], qid: str) -> dict[str, Any]:
    """Place of a query in its list, from 1, and the ids before and after it; empty if not there."""
    qids = [row.qid for row in rows]
    if qid not in qids:
        return {}
    at = qids.index(qid)
    return {
        "place": at + 1,
        "n": len(qids),
        "before": qids[at - 1] if at else None,
        "after": qids[at + 1] if at + 1 < len(qids) else None,
    }
