"""What a leak is looked for in, and the kinds of pairs."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from benchwright.splits.types import SplitQuery

NEAR_AT = 0.80
POSSIBLE_AT = 0.60
LEVELS = (POSSIBLE_AT, 0.70, NEAR_AT)
"""Pairs are counted from each of these on."""


@dataclass(frozen=True, slots=True)
class LeakQuery:
    """A query of a split, with the documents that are relevant to it."""

    qid: str
    text: str
    family: str
    split: str
    slices: tuple[str, ...] = ()
    relevant: frozenset[str] = frozenset()
    first_seen: datetime | None = None

    def as_split_query(self) -> SplitQuery:
        """The same as the splitter sees it."""
        return SplitQuery(self.qid, self.family, self.slices, len(self.relevant), self.first_seen)


class Kind(StrEnum):
    """What two queries of different splits have in common; the gravest first."""

    FAMILY = "family"
    EXACT = "exact"
    ACCENTS = "accents"
    BAG = "bag"
    NEAR = "near"
    POSSIBLE = "possible"


WORDS = {
    Kind.FAMILY: "one family",
    Kind.EXACT: "the same but for case, spaces and punctuation",
    Kind.ACCENTS: "the same but for accents",
    Kind.BAG: "the same words in another order",
    Kind.NEAR: f"alike to {NEAR_AT:.2f} or more",
    Kind.POSSIBLE: f"alike to {POSSIBLE_AT:.2f} or more",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two queries of different splits, by their places, the earlier split's first."""

    a: int
    b: int
    kind: Kind | None
    similarity: float
    is_told_apart: bool = False
