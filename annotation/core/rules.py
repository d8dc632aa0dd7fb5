"""From a ledger of events to one grade for each document of a query, by named, versioned rules.

A rule never changes once it is here: a better one is a new version, so that a published set says
for ever how its grades came about.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from annotation.core.judging_errors import UnknownRuleError

GRADE = "grade"
CANT_JUDGE = "cant_judge"
IMPORT = "import"


@dataclass(frozen=True, slots=True)
class Event:
    """One event about a document of a query, as rules see it: whose, what, and what it replaces.

    `kind` is a `Judgment.Kind`; `grade` is None where the kind has none; `supersedes` is the id of
    the event that this one replaces or takes back, or None.
    """

    id: int
    query: str
    docid: str
    kind: str
    grade: int | None
    actor: int
    supersedes: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The grade that a rule gives a document of a query."""

    query: str
    docid: str
    grade: int


Rule = Callable[[Sequence[int]], int]


@dataclass(frozen=True, slots=True)
class NamedRule:
    """A rule with the name, version and sentence under which it is published."""

    name: str
    version: int
    says: str
    decide: Rule


def lower_median(grades: Sequence[int]) -> int:
    """The middle grade; of two middle ones the lower.

    `grades` holds one grade of each annotator, at least one, in any order.

    Examples
    --------
    >>> lower_median([3, 0, 2])
    2
    >>> lower_median([3, 2])
    2
    """
    return sorted(grades)[(len(grades) - 1) // 2]


RULES: tuple[NamedRule, ...] = (
    NamedRule(
        "lower-median",
        1,
        "A single grade counts as it is; of several annotators' grades the lower median.",
        lower_median,
    ),
)
DEFAULT_RULE = RULES[0]


def rule_named(name: str, version: int | None = None) -> NamedRule:
    """The rule of this name, in its newest version where none is asked for.

    Raises
    ------
    UnknownRuleError
        If it is not registered.
    """
    found = [rule for rule in RULES if rule.name == name and version in (None, rule.version)]
    if not found:
        known = ", ".join(f"{rule.name} v{rule.version}" for rule in RULES)
        raise UnknownRuleError(rule=name, version=version or "any", known=known)
    return max(found, key=lambda rule: rule.version)


def grades_of_pair(events: Iterable[Event]) -> list[int]:
    """The grade each annotator stands by, for one document of one query.

    An event that a later one supersedes is gone, with it what was taken back. Of what is left, an
    annotator's newest event speaks; "can't judge" says no grade. Extra labels count as any other,
    and a label given elsewhere counts as one of whoever entered it.
    """
    known = sorted(events, key=lambda event: event.id)
    superseded = {event.supersedes for event in known}
    newest: dict[int, Event] = {}
    for event in known:
        if event.kind in (GRADE, CANT_JUDGE, IMPORT) and event.id not in superseded:
            newest[event.actor] = event
    return [event.grade for event in newest.values() if event.grade is not None]


def decisions(events: Iterable[Event], rule: NamedRule) -> Iterator[Decision]:
    """One decision for each graded pair, in the order in which the pairs come.

    `events` has the events of a pair next to each other; nothing more than a pair is held.
    """
    for (query, docid), group in groupby(events, key=lambda event: (event.query, event.docid)):
        grades = grades_of_pair(group)
        if grades:
            yield Decision(query, docid, rule.decide(grades))


def qrels_digest(rows: Iterable[Decision]) -> str:
    """The SHA-256 of `query TAB docid TAB grade` lines, sorted by their bytes."""
    lines = sorted(f"{row.query}\t{row.docid}\t{row.grade}\n".encode() for row in rows)
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return digest.hexdigest()
