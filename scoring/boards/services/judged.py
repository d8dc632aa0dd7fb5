"""Whether the runs of a board can be compared, by what of their first ten is judged."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from benchwright.comparison.comparability import COMPARABLE
from benchwright.comparison.comparability import PROVISIONAL as PROVISIONAL_FROM
from benchwright.errors import ScoringError
from benchwright.measures import parse_measure
from scoring.boards.services.boards import Board
from scoring.scores.selectors.boards import JUDGED, NOT_COMPARABLE

# Leaves documents that nobody judged out by itself.
BPREF = "bpref"
# So many runs are asked about at once.
MOST_NAMED = 6


@dataclass(frozen=True)
class JudgedShares:
    """The `n` of `n_runs` runs that have too few judged documents: to be compared at all where it
    `is_bar`, else to be compared freely.

    `low` and `high` are the least and the largest share of these; `runs` the best of them.
    """

    is_bar: bool
    n: int
    n_runs: int
    low: float
    high: float
    runs: tuple[int, ...]

    @property
    def is_all(self) -> bool:
        return self.n == self.n_runs

    @property
    def shares(self) -> str:
        """How much is judged: "29 to 34 %"; of what is barely below the limit not more than it."""
        most = round(100 * (PROVISIONAL_FROM if self.is_bar else COMPARABLE)) - 1
        low, high = (min(round(100 * share), most) for share in (self.low, self.high))
        if low == high:
            return f"{low} %"
        return _("{low} to {high} %").format(low=low, high=high)


def judged_shares(board: Board) -> JudgedShares | None:
    """What stands in the way of comparing the runs; None where nothing does.

    Nor where the measure leaves unjudged documents out, or counts them.
    """
    if _leaves_unjudged_out(board.measure.name):
        return None
    low_rows = [row for row in board.whole if row.comparability]
    barred = [row for row in low_rows if row.comparability == NOT_COMPARABLE]
    rows = barred or low_rows
    shares = [row.judged for row in rows if row.judged is not None]
    if not shares:
        return None
    return JudgedShares(
        is_bar=bool(barred),
        n=len(rows),
        n_runs=len(board.whole),
        low=min(shares),
        high=max(shares),
        runs=tuple(row.run.pk for row in rows[:MOST_NAMED]),
    )


def _leaves_unjudged_out(name: str) -> bool:
    if name == JUDGED:
        return True
    try:
        measure = parse_measure(name)
    except ScoringError:
        return False
    return measure.family == BPREF or "judged_only=True" in name
