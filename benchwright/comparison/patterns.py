"""What a change of several measures together usually means, with the numbers that say so.

A difference has gone up or down when it is larger than `LEAST` and its interval leaves 0 out; else
it is level. A rule is a set of such directions; it holds when every difference it names is
there and goes its way, and comes with these differences as its evidence.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from math import isnan
from typing import Any, TypeVar

from benchwright.comparison.aligning import OVERALL
from benchwright.measures.registry import parse_measure
from benchwright.texts.counting import counted, signed_beside

# --- What a change of several measures together usually means, with the numbers that say so.

LEAST = 0.005
"""Differences up to this are level, however short their interval."""

IN_FAMILIES, ALONE = "\tin families", "\talone"
"""Slices of a reader's own: queries whose family has several wordings, and all others."""

ONLINE = "\tonline"
"""The slice of what an experiment with people showed."""


class Direction(StrEnum):
    UP = "up"
    LEVEL = "level"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Fact:
    """A difference of two runs by one measure over one slice, with its 95 % interval.

    `needed` is the number of queries that would show it, or None where none is known.
    """

    measure: str
    slice: str
    difference: float
    low: float
    high: float
    n: int
    needed: int | None = None

    @property
    def margin(self) -> float:
        """Up to how much the difference is level: `LEAST`, or half the interval if that is more."""
        return max(LEAST, (self.high - self.low) / 2)

    @property
    def direction(self) -> Direction | None:
        """Where it goes; None where difference or interval is undefined.

        Examples
        --------
        >>> Fact("nDCG@10", "all", 0.02, 0.01, 0.03, 100).direction.value
        'up'
        >>> Fact("nDCG@10", "all", 0.02, -0.01, 0.05, 100).direction.value
        'level'
        """
        if isnan(self.difference) or isnan(self.margin) or isnan(self.low + self.high):
            return None
        if abs(self.difference) <= LEAST or self.low <= 0 <= self.high:
            return Direction.LEVEL
        return Direction.UP if self.difference > 0 else Direction.DOWN


@dataclass(frozen=True, slots=True)
class Roles:
    """Which measure plays which part: graded gain, first hit, coverage, and gain condensed."""

    gain: str = "nDCG@10"
    first: str = "RR@10"
    coverage: str = "R@100"
    condensed: str = "nDCG(judged_only=True)@10"


@dataclass(frozen=True, slots=True)
class Condition:
    """A measure's role, a slice's role, and the directions that fulfil it."""

    role: str
    slice: str
    directions: tuple[Direction, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern: `title` says what it usually means, `advice` what to do about it."""

    code: str
    title: str
    advice: str
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A rule that holds, and the differences that make it hold, in the order of its conditions.

    `needed` is set where nothing was shown: the queries that would show the difference in gain.
    """

    code: str
    title: str
    advice: str
    evidence: tuple[Fact, ...]
    needed: int | None = None


def _condition(role: str, direction: str, in_slice: str = OVERALL) -> Condition:
    arrows = {"↑": Direction.UP, "≈": Direction.LEVEL, "↓": Direction.DOWN}
    return Condition(role, in_slice, tuple(arrows[arrow] for arrow in direction))


RULES = (
    Rule(
        "complete-sets",
        "More complete sets, first hit unchanged",
        "More of the relevant documents come up, and the first one stays where it was.",
        (_condition("gain", "↑"), _condition("coverage", "↑"), _condition("first", "≈")),
    ),
    Rule(
        "first-hit",
        "First hit only",
        "The first relevant document comes sooner; what follows it is as before.",
        (_condition("first", "↑"), _condition("gain", "≈"), _condition("coverage", "≈")),
    ),
    Rule(
        "head-over-fit",
        "Over-fitted to the head",
        "Frequent queries gain what rare ones lose. Look at what it was tuned or trained on.",
        (_condition("gain", "↑", "head"), _condition("gain", "↓", "tail")),
    ),
    Rule(
        "lexical-loss",
        "Lexical loss",
        "Exact matches are lost while meaning is found better: try a hybrid of both.",
        (_condition("gain", "↓", "exact"), _condition("gain", "↑", "semantic")),
    ),
    Rule(
        "re-ordering",
        "Re-ordering within the top",
        "The same documents in a better order: neither coverage nor the first hit has changed.",
        (_condition("gain", "↑"), _condition("coverage", "≈"), _condition("first", "≈")),
    ),
    Rule(
        "coverage-for-ranking",
        "Coverage bought with ranking",
        "More relevant documents are found, further down: re-rank them.",
        (_condition("coverage", "↑"), _condition("gain", "↓")),
    ),
    Rule(
        "unjudged",
        "Unjudged documents hide a difference",
        "Without its unjudged documents the run is better. Judge them before deciding.",
        (_condition("condensed", "↑"), _condition("gain", "≈")),
    ),
    Rule(
        "leak-suspect",
        "Suspected leak",
        "The first hit improves only for queries that have other wordings: were those trained on?",
        (_condition("first", "↑", IN_FAMILIES), _condition("first", "≈↓", ALONE)),
    ),
    Rule(
        "online-disagrees",
        "Better here, worse with people",
        "Queries, grades or corpus may be stale or biased: check how fresh the benchmark is.",
        (_condition("gain", "↑"), _condition("online", "↓", ONLINE)),
    ),
)
INCONCLUSIVE = Rule(
    "inconclusive",
    "Inconclusive",
    "No difference is larger than its uncertainty. More queries, or a larger change, would tell.",
    tuple(_condition(role, "≈") for role in ("gain", "coverage", "first")),
)
SLICE_WORDS = ("head", "tail", "exact", "semantic")


def slice_roles(names: Iterable[str]) -> dict[str, str]:
    """Which slice plays which part: the one called so, or the first that has the word in its name.

    Examples
    --------
    >>> slice_roles(["long tail", "exact match", "Head"])
    {'head': 'Head', 'tail': 'long tail', 'exact': 'exact match'}
    """
    slices = list(names)
    roles = {}
    for word in SLICE_WORDS:
        by_word = [name for name in slices if re.search(rf"\b{word}\b", name.casefold())]
        whole = [name for name in by_word if name.casefold() == word]
        if by_word:
            roles[word] = (whole or by_word)[0]
    return roles


Qid = TypeVar("Qid", str, bytes)


def family_slices(qids: Iterable[Qid], families: Mapping[Qid, Hashable]) -> dict[str, list[Qid]]:
    """The queries whose family has several of them, and the others; only where there are both.

    Examples
    --------
    >>> family_slices(["a", "b", "c"], {"a": 1, "b": 1})
    {'\\tin families': ['a', 'b'], '\\talone': ['c']}
    """
    ordered = list(qids)
    sizes = Counter(families[qid] for qid in ordered if qid in families)
    together = [qid for qid in ordered if qid in families and sizes[families[qid]] > 1]
    inside = set(together)
    alone = [qid for qid in ordered if qid not in inside]
    return {IN_FAMILIES: together, ALONE: alone} if together and alone else {}


def slice_role(kind: str, band: str = "") -> str:
    """The part that a slice plays by the rule it was made by; empty where it plays none.

    Examples
    --------
    >>> slice_role("frequency", "tail"), slice_role("exact_match"), slice_role("import")
    ('tail', 'exact', '')
    """
    if kind == "frequency":
        return band if band in ("head", "tail") else ""
    return {"exact_match": "exact", "semantic": "semantic"}.get(kind, "")


def read_patterns(
    facts: Iterable[Fact], roles: Roles | None = None, parts: Mapping[str, str] | None = None
) -> list[Pattern]:
    """The rules that hold for the differences of one run to another, in the order of `RULES`.

    Parameters
    ----------
    facts
        Differences over all queries (`OVERALL`) and over slices. `IN_FAMILIES`, `ALONE` and
        `ONLINE` are slices of the reader's own.
    roles
        Which measures to look at; nDCG@10, RR@10 and R@100 unless given.
    parts
        Which slice plays which part (`slice_role`), the part first. Where no rules are known, as
        of slices in a file, they are told by their names (`slice_roles`).

    A rule that needs a difference which is not there, or undefined, does not hold.
    """
    listed = list(facts)
    if parts is None:
        parts = slice_roles(fact.slice for fact in listed)
    table = _table(listed, roles or Roles(), parts)
    patterns = [
        Pattern(rule.code, rule.title, rule.advice, evidence)
        for rule in RULES
        if (evidence := _evidence(rule, table))
    ]
    return [*patterns, *_inconclusive(listed, table, roles or Roles())]


Table = Mapping[tuple[str, str], Fact]


def _table(facts: list[Fact], roles: Roles, parts: Mapping[str, str]) -> Table:
    """The differences by the roles of measure and slice."""
    of_slice = {name: role for role, name in parts.items()}
    of_slice |= {name: name for name in (OVERALL, IN_FAMILIES, ALONE, ONLINE)}
    measures = {getattr(roles, role): role for role in ("condensed", "coverage", "first", "gain")}
    table = {}
    for fact in facts:
        role = "online" if fact.slice == ONLINE else measures.get(fact.measure)
        if role and fact.slice in of_slice:
            table[role, of_slice[fact.slice]] = fact
    return table


def _evidence(rule: Rule, table: Table) -> tuple[Fact, ...]:
    """The differences a rule names, if each goes its way; else nothing."""
    evidence = []
    for condition in rule.conditions:
        fact = table.get((condition.role, condition.slice))
        if fact is None or fact.direction not in condition.directions:
            return ()
        evidence.append(fact)
    return tuple(evidence)


def _inconclusive(facts: list[Fact], table: Table, roles: Roles) -> list[Pattern]:
    """Where everything is level, by every measure there is and in every slice."""
    overall = [
        table[role, OVERALL] for role in ("gain", "coverage", "first") if (role, OVERALL) in table
    ]
    looked_at = [fact for fact in facts if fact.slice != ONLINE and fact.measure != roles.condensed]
    if not overall or any(fact.direction is not Direction.LEVEL for fact in looked_at):
        return []
    rule = INCONCLUSIVE
    return [Pattern(rule.code, rule.title, rule.advice, tuple(overall), overall[0].needed)]


# --- Which of several measures plays which part when patterns are read.


def condensed_of(measures: Sequence[str]) -> str | None:
    """The graded gain without unjudged documents; None where no measure is one of gain.

    Examples
    --------
    >>> condensed_of(["P@5", "nDCG@20"]), condensed_of(["RR@10"])
    ('nDCG(judged_only=True)@20', None)
    """
    gain = _of_family(measures, "nDCG")
    return gain and str(parse_measure(gain).with_options({"judged_only": True}))


def roles_of(measures: Sequence[str]) -> Roles:
    """The first measure of each family plays its part."""
    return Roles(
        gain=_of_family(measures, "nDCG") or "",
        first=_of_family(measures, "RR") or "",
        coverage=_of_family(measures, "R") or "",
        condensed=condensed_of(measures) or "",
    )


def _of_family(measures: Sequence[str], family: str) -> str | None:
    for measure in map(parse_measure, measures):
        if measure.family == family and not dict(measure.options).get("judged_only"):
            return str(measure)
    return None


# --- Patterns as text and as JSON: for pages, reports and the command line.


def pattern_dict(pattern: Pattern) -> dict[str, Any]:
    """A pattern as JSON holds it, each difference with its direction and margin."""
    evidence = [
        {**asdict(fact), "slice": fact.slice.strip(), "margin": fact.margin, "direction": direction}
        for fact in pattern.evidence
        for direction in [fact.direction.value if fact.direction else None]
    ]
    return {**asdict(pattern), "evidence": evidence}


def patterns_markdown(patterns: Iterable[Pattern]) -> str:
    """A point for each pattern, its evidence below it."""
    lines = []
    for pattern in patterns:
        needed = f" {pattern.needed} queries would show it." if pattern.needed else ""
        lines.append(f"- **{pattern.title}**: {pattern.advice}{needed}")
        lines += [f"  - {evidence_text(fact)}" for fact in pattern.evidence]
    return "\n".join(lines)


def evidence_text(fact: Fact) -> str:
    """A difference in one line: measure, slice, number, interval, queries.

    Examples
    --------
    >>> evidence_text(Fact("nDCG@10", "all", 0.02, 0.01, 0.03, 60))
    'nDCG@10 over all (60 queries): up, +0.0200 (+0.0100 to +0.0300), level within ±0.0100'
    """
    direction = fact.direction.value if fact.direction else "undefined"
    size = f" ({counted(fact.n, 'query')})" if fact.n else ""
    return (
        f"{fact.measure} over {fact.slice.strip()}{size}: {direction}, "
        f"{signed_beside(fact.difference)} "
        f"({signed_beside(fact.low)} to {signed_beside(fact.high)}), "
        f"level within ±{fact.margin:.4f}"
    )


def markdown_words(text: str) -> str:
    """Words of a person that end no cell and begin no markup."""
    words = " ".join(text.split())
    for sign in "\\|`*_<>[]":
        words = words.replace(sign, f"\\{sign}")
    return words
