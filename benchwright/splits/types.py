"""What goes into a split, and what comes out."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

EXCLUDED = "split: "
"""How every reason begins that a split gives for leaving a query out."""

STRADDLES = f"{EXCLUDED}asked after the cut, its family was asked before it"
DROPPED = f"{EXCLUDED}its family was asked on both sides of the cut"
IN_GAP = f"{EXCLUDED}asked in the gap after the cut"
LEFT_OUT = f"{EXCLUDED}left out by the imported file"


@dataclass(frozen=True, slots=True)
class SplitQuery:
    """What a split looks at: a query's family, slices, number of relevant documents and date."""

    qid: str
    family: str
    slices: tuple[str, ...] = ()
    n_relevant: int = 0
    first_seen: datetime | None = None


@dataclass(frozen=True)
class Assignment:
    """Where every family is, and which single queries are in no split, with the reason.

    A family of which every query is left out has the split "".
    """

    families: Mapping[str, str]
    splits: Mapping[str, str]
    excluded: Mapping[str, str] = field(default_factory=dict)
    cuts: tuple[tuple[str, datetime], ...] = ()

    @property
    def sizes(self) -> dict[str, int]:
        """Queries of each split."""
        return dict(Counter(self.splits.values()))
