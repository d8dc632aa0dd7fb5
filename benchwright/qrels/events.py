"""What rules read: the events about one document of one query, and who stands by which grade."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

GRADE = "grade"
CANT_JUDGE = "cant_judge"
IMPORT = "import"
RETRACT = "retract"
ADJUDICATE = "adjudicate"
THIRD_OPINION = "third_opinion"

# Labels of a document that was judged to learn, to be compared with oneself, or as a check.
APART = frozenset({"repeat", "gold", "practice"})
SAYS_A_GRADE = frozenset({GRADE, CANT_JUDGE, IMPORT})
# What an adjudicator says that leaves a pair without a grade until they say otherwise.
SET_ASIDE = frozenset({"query_ambiguous", "guideline_unclear"})

# A person who judges here, or one whom a file of outside labels names: (actor, name in the file).
Rater = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Event:
    """One event about a document of a query, as rules see it: whose, what, and what it replaces.

    `kind` is a `Judgment.Kind`; `grade` is None where the kind has none; `supersedes` is the id of
    the event that this one replaces or takes back, or None. `rater` is whom a file of outside
    labels names, `purpose` what its slot was for, `outcome` how an adjudicator settled it.
    """

    id: int
    query: str
    docid: str
    kind: str
    grade: int | None
    actor: int
    supersedes: int | None = None
    rater: str = ""
    purpose: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """The grade that a rater stands by, and the event that says so."""

    rater: Rater
    grade: int
    event: int


@dataclass(frozen=True, slots=True)
class Pair:
    """What is known of a document of a query: a label of each rater, and what an adjudicator said.

    `adjudicated` is the adjudicator's grade; `is_set_aside` where they found that there is none.
    `outcome` is their newest word, and `waits` that it asks for a label, and nobody has answered
    yet: "can't judge" is an answer too.
    """

    query: str
    docid: str
    labels: tuple[Label, ...]
    adjudicated: int | None = None
    is_set_aside: bool = False
    outcome: str = ""
    waits: bool = False

    @property
    def grades(self) -> list[int]:
        return [label.grade for label in self.labels]


def labels_of_pair(events: Iterable[Event]) -> list[Label]:
    """The grade each rater stands by, for one document of one query, the earliest event first.

    An event that a later one supersedes is gone, with it what was taken back. Of what is left, a
    rater's newest event speaks; "can't judge" says no grade. Extra labels count as any other, and
    a label given elsewhere counts as one of whom its file names, or else of whoever entered it.
    Practice, repeats, hidden checks and what machines say do not count.
    """
    newest = {(event.actor, event.rater): event for event in _standing(events)}
    labels = [
        Label(rater, event.grade, event.id)
        for rater, event in newest.items()
        if event.grade is not None
    ]
    return sorted(labels, key=lambda label: label.event)


def _standing(events: Iterable[Event]) -> list[Event]:
    """What raters said and did not replace or take back, the earliest first."""
    counting = sorted(
        (event for event in events if event.purpose not in APART), key=lambda event: event.id
    )
    superseded = {event.supersedes for event in counting}
    return [
        event for event in counting if event.kind in SAYS_A_GRADE and event.id not in superseded
    ]


def pair_of(query: str, docid: str, events: Iterable[Event]) -> Pair:
    """All that rules need to know of one document of one query, from its events in any order."""
    listed = list(events)
    labels = tuple(labels_of_pair(listed))
    last = _adjudication(listed)
    if last is None:
        return Pair(query, docid, labels)
    return Pair(
        query,
        docid,
        labels,
        adjudicated=last.grade,
        is_set_aside=last.outcome in SET_ASIDE,
        outcome=last.outcome,
        waits=last.outcome == THIRD_OPINION
        and all(event.id < last.id for event in _standing(listed)),
    )


def pairs_of(events: Iterable[Event]) -> Iterator[Pair]:
    """The pairs in the order in which they come; the events of a pair stand next to each other.

    Nothing more than a pair is held.
    """
    for (query, docid), group in groupby(events, key=lambda event: (event.query, event.docid)):
        yield pair_of(query, docid, group)


def _adjudication(events: list[Event]) -> Event | None:
    """The adjudicator's newest word that nobody has replaced."""
    superseded = {event.supersedes for event in events}
    standing = [
        event for event in events if event.kind == ADJUDICATE and event.id not in superseded
    ]
    return max(standing, key=lambda event: event.id, default=None)
