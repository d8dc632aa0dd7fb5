"""From a ledger of events to one grade for each document of a query, by named, versioned rules.

A rule never changes once it is here: a better one is a new version, so that a published set says
for ever how its grades came about.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from benchwright.qrels.errors import RuleSettingsError, UnknownRuleError, UnresolvedPairsError
from benchwright.qrels.events import (
    Event,
    Pair,
    pairs_of,
)

# --- One grade of several, by counting or by order.


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


def upper_median(grades: Sequence[int]) -> int:
    """The middle grade; of two middle ones the higher.

    Examples
    --------
    >>> upper_median([3, 2])
    3
    """
    return sorted(grades)[len(grades) // 2]


def majority(grades: Sequence[int]) -> int:
    """The grade that most annotators gave; of grades given equally often, the lowest.

    Examples
    --------
    >>> majority([3, 1, 3])
    3
    >>> majority([3, 1])
    1
    """
    counted = Counter(grades)
    most = max(counted.values())
    return min(grade for grade, n in counted.items() if n == most)


# --- The rules by which a pair's labels become one grade, and what happens where they do not.

N_EXAMPLES = 5


class Unresolved(StrEnum):
    """What becomes of a pair that a rule leaves open."""

    LOWER_MEDIAN = "lower-median"
    LEAVE_OUT = "leave-out"
    REFUSE = "refuse"


class How(StrEnum):
    """How a grade came about."""

    ONE_LABEL = "one label"
    EQUAL = "equal labels"
    NEIGHBOURS = "lower of two near labels"
    AGGREGATED = "several labels, aggregated"
    FIRST = "first of several labels"
    ADJUDICATED = "adjudicated"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a rule may be told; what a rule does not use changes nothing.

    `adjudicate_from` is the distance from which two grades need an adjudicator, `smoothing` the
    Dirichlet parameter of Dawid-Skene.
    """

    adjudicate_from: int = 2
    unresolved: str = Unresolved.LOWER_MEDIAN
    smoothing: float = 0.1

    def __post_init__(self) -> None:
        if self.unresolved not in set(Unresolved):
            self._refuse("unresolved", f"one of {', '.join(Unresolved)}")
        if self.adjudicate_from < 1:
            self._refuse("adjudicate_from", "1 or more")
        if not self.smoothing > 0:
            self._refuse("smoothing", "a number above 0")

    def _refuse(self, setting: str, expected: str) -> None:
        value = getattr(self, setting)
        raise RuleSettingsError(setting=setting, value=value, expected=expected)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "unresolved": str(self.unresolved)}


@dataclass(frozen=True, slots=True)
class Decision:
    """The grade that a rule gives a document of a query."""

    query: str
    docid: str
    grade: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule says of a pair: a grade and how it came about, or None for unresolved."""

    pair: Pair
    grade: int | None
    how: How


Decide = Callable[[Pair, Settings], Verdict]


@dataclass(frozen=True, slots=True)
class NamedRule:
    """A rule with the name, version and sentence under which it is published.

    `decide` settles a pair by itself; a rule that must see all pairs has none.
    """

    name: str
    version: int
    says: str
    decide: Decide | None


# --- rules that see one pair at a time ----------------------------------------------------------


def _aggregated(aggregate: Callable[[Sequence[int]], int]) -> Decide:
    """A rule that makes one grade of all labels, whatever an adjudicator said."""

    def decide(pair: Pair, _: Settings) -> Verdict:
        return Verdict(pair, aggregate(pair.grades), _how_many(pair))

    return decide


def _how_many(pair: Pair) -> How:
    if len(pair.labels) == 1:
        return How.ONE_LABEL
    return How.EQUAL if len(set(pair.grades)) == 1 else How.AGGREGATED


def _single(pair: Pair, _: Settings) -> Verdict:
    how = How.ONE_LABEL if len(pair.labels) == 1 else How.FIRST
    return Verdict(pair, pair.labels[0].grade, how)


def _adjudicated_first(pair: Pair, settings: Settings) -> Verdict:
    if pair.adjudicated is not None:
        return Verdict(pair, pair.adjudicated, How.ADJUDICATED)
    if pair.is_set_aside:
        return Verdict(pair, None, How.UNRESOLVED)
    grades = pair.grades
    apart = max(grades) - min(grades)
    if len(grades) == 2 and apart:
        if apart >= settings.adjudicate_from:
            return Verdict(pair, None, How.UNRESOLVED)
        return Verdict(pair, lower_median(grades), How.NEIGHBOURS)
    return Verdict(pair, lower_median(grades), _how_many(pair))


SINGLE = NamedRule(
    "single",
    1,
    "The first label counts; where several people graded a document, the later ones do not.",
    _single,
)
LOWER_MEDIAN = NamedRule(
    "lower-median",
    1,
    "A single grade counts as it is; of several annotators' grades the lower median.",
    _aggregated(lower_median),
)
UPPER_MEDIAN = NamedRule(
    "upper-median",
    1,
    "A single grade counts as it is; of several annotators' grades the upper median.",
    _aggregated(upper_median),
)
MAJORITY = NamedRule(
    "majority",
    1,
    "The grade that most annotators gave; of grades given equally often, the lowest.",
    _aggregated(majority),
)
ADJUDICATED_FIRST = NamedRule(
    "adjudicated-first",
    1,
    "The adjudicator's grade where there is one. Otherwise one label counts as it is, two equal "
    "ones are accepted, of two near ones the lower counts, two that lie further apart stay open, "
    "and of three or more the lower median counts.",
    _adjudicated_first,
)
DAWID_SKENE = NamedRule(
    "dawid-skene",
    1,
    "The most likely grade, given how often each annotator confuses which grades (Dawid & Skene, "
    "1979). For five or more annotators with 20 or more documents in common with others.",
    None,
)
RULES: tuple[NamedRule, ...] = (
    ADJUDICATED_FIRST,
    LOWER_MEDIAN,
    UPPER_MEDIAN,
    MAJORITY,
    SINGLE,
    DAWID_SKENE,
)
DEFAULT_RULE = ADJUDICATED_FIRST


def rule_named(name: str, version: int | None = None) -> NamedRule:
    """The rule of this name, in its newest version where none is asked for.

    Raises
    ------
    UnknownRuleError
        If it is not registered.
    """
    rules = [rule for rule in RULES if rule.name == name and version in (None, rule.version)]
    if not rules:
        names = ", ".join(f"{rule.name} v{rule.version}" for rule in RULES)
        raise UnknownRuleError(rule=name, version=version or "any", known=names)
    return max(rules, key=lambda rule: rule.version)


# --- deriving -----------------------------------------------------------------------------------


def verdict_on(pair: Pair, rule: NamedRule, settings: Settings) -> Verdict | None:
    """What a rule says of one pair; None where it has no say or must see all of them."""
    is_settled = rule is ADJUDICATED_FIRST and pair.adjudicated is not None
    if rule.decide is None or not (pair.labels or is_settled):
        return None
    return rule.decide(pair, settings)


@dataclass
class Derivation:
    """A rule at work: iterate `of(events)`, then read how the grades came about.

    `fitted` holds what Dawid-Skene learned of the annotators: `{scale, raters, confusions,
    n_iterations, is_converged}`, a confusion matrix (true x given) for each rater.
    """

    rule: NamedRule
    settings: Settings = field(default_factory=Settings)
    n_by_how: Counter[str] = field(default_factory=Counter)
    n_labels: int = 0
    unresolved: list[tuple[str, str]] = field(default_factory=list)
    fitted: dict[str, Any] | None = None

    def of(self, events: Iterable[Event]) -> Iterator[Decision]:
        """One decision for each pair that gets a grade, in the order in which the pairs come.

        `events` has those of a pair side by side.

        Raises
        ------
        UnresolvedPairsError
            At the end, if pairs stay open and the settings refuse them.
        DawidSkeneRefusedError
            If the labels are too few for Dawid-Skene.
        """
        for verdict in self._verdicts(pairs_of(events)):
            self.n_labels += len(verdict.pair.labels)
            self.n_by_how[verdict.how] += 1
            grade = self._settled(verdict)
            if grade is not None:
                yield Decision(verdict.pair.query, verdict.pair.docid, grade)
        if self.unresolved and self.settings.unresolved == Unresolved.REFUSE:
            examples = "; ".join(
                f"query {q}, document {d}" for q, d in self.unresolved[:N_EXAMPLES]
            )
            raise UnresolvedPairsError(n_pairs=len(self.unresolved), examples=examples)

    def _settled(self, verdict: Verdict) -> int | None:
        if verdict.how is not How.UNRESOLVED:
            return verdict.grade
        self.unresolved.append((verdict.pair.query, verdict.pair.docid))
        if self.settings.unresolved == Unresolved.LOWER_MEDIAN and verdict.pair.labels:
            return lower_median(verdict.pair.grades)
        return None

    def _verdicts(self, pairs: Iterable[Pair]) -> Iterator[Verdict]:
        if self.rule.decide is None:
            yield from self._most_likely(pairs)
            return
        for pair in pairs:
            verdict = verdict_on(pair, self.rule, self.settings)
            if verdict is not None:
                yield verdict

    def _most_likely(self, pairs: Iterable[Pair]) -> Iterator[Verdict]:
        # Imported here: everything but this rule does without numpy.
        from benchwright.qrels import dawid_skene

        graded = [pair for pair in pairs if pair.labels]
        if not graded:
            return
        dawid_skene.refuse_if_thin(graded)
        # Sums of floating numbers depend on their order: the databases' must not matter.
        in_order = sorted(graded, key=lambda pair: (pair.query.encode(), pair.docid.encode()))
        fitted = dawid_skene.fit(in_order, smoothing=self.settings.smoothing)
        self.fitted = {
            "scale": list(fitted.scale),
            "raters": [list(rater) for rater in fitted.raters],
            "confusions": fitted.confusions.round(6).tolist(),
            "n_iterations": fitted.n_iterations,
            "is_converged": fitted.is_converged,
        }
        for pair, grade in zip(in_order, fitted.grades, strict=True):
            yield Verdict(pair, grade, _how_many(pair))


# --- From a ledger of events to one grade for each document of a query, by named, versioned
# rules.


def qrels_digest(rows: Iterable[Decision]) -> str:
    """The SHA-256 of `query TAB docid TAB grade` lines, sorted by their bytes."""
    lines = sorted(f"{row.query}\t{row.docid}\t{row.grade}\n".encode() for row in rows)
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return digest.hexdigest()
