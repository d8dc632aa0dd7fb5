"""Why a pair has the grade it has: a rule's work on one document of one query, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchwright.qrels.events import APART, CANT_JUDGE, RETRACT, Event, Pair, pair_of
from benchwright.qrels.rules import How, NamedRule, Settings, Unresolved, lower_median, verdict_on

WHY = {
    How.ONE_LABEL: "One label counts as it is.",
    How.EQUAL: "All labels are equal.",
    How.NEIGHBOURS: "Two grades close to each other: the lower one counts.",
    How.AGGREGATED: "Several different labels, made one by the rule.",
    How.FIRST: "The first of the labels counts.",
    How.ADJUDICATED: "An adjudicator settled it.",
    How.UNRESOLVED: "The rule leaves it open.",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what was done, and the events it speaks of, by id."""

    title: str
    text: str
    events: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """The steps, and the grade they end with; None where they give none."""

    steps: tuple[Step, ...]
    grade: int | None


def explained(
    query: str,
    docid: str,
    events: Sequence[Event],
    *,
    rule: NamedRule,
    settings: Settings,
    published: int | None,
) -> Explained:
    """How a rule comes from the events of one pair to its grade.

    `events` are those up to the one at which the set was published. A rule that weighs all
    documents together cannot be followed on one of them: then `published` is what it gave.

    Examples
    --------
    >>> from benchwright.qrels.rules import rule_named
    >>> said = [Event(1, "q", "d", "grade", 2, actor=7), Event(2, "q", "d", "grade", 3, actor=8)]
    >>> explained("q", "d", said, rule=rule_named("lower-median"), settings=Settings(),
    ...     published=2).grade
    2
    """
    pair = pair_of(query, docid, events)
    verdict = verdict_on(pair, rule, settings)
    steps = [*_left_out(events, pair), _labels(pair), *_adjudicated(events, pair)]
    steps.append(Step(f"The rule {rule.name}, version {rule.version}", rule.says))
    if verdict is None:
        sees_all = rule.decide is None and bool(pair.labels)
        text = (
            "It looks at all documents together: the grade follows from everybody's labels."
            if sees_all
            else "There is no label to make a grade of."
        )
        return Explained((*steps, Step("Outcome", text)), published if sees_all else None)
    if verdict.how is How.UNRESOLVED:
        step, grade = _open(pair, settings)
        return Explained((*steps, step), grade)
    return Explained((*steps, Step("Outcome", WHY[verdict.how])), verdict.grade)


def _left_out(events: Sequence[Event], pair: Pair) -> list[Step]:
    counted = {label.event for label in pair.labels}
    replaced = {event.supersedes for event in events if event.supersedes is not None}
    reasons = {
        "Undone or replaced": [event.id for event in events if event.id in replaced],
        "Practice, repeats and hidden checks": [e.id for e in events if e.purpose in APART],
        "Said that it cannot be judged": [
            e.id for e in events if e.kind == CANT_JUDGE and e.id not in replaced
        ],
        "A later label of the same person counts": [
            event.id
            for event in events
            if event.grade is not None
            and event.id not in counted | replaced
            and event.purpose not in APART
            and event.kind in ("grade", "import")
        ],
        "Took an earlier label back": [e.id for e in events if e.kind == RETRACT],
    }
    return [
        Step("Left out", f"{reason}.", tuple(pairs)) for reason, pairs in reasons.items() if pairs
    ]


def _labels(pair: Pair) -> Step:
    if not pair.labels:
        return Step("Labels that count", "None.")
    grades = ", ".join(str(label.grade) for label in pair.labels)
    ids = tuple(label.event for label in pair.labels)
    n = len(ids)
    text = f"Grade {grades}." if n == 1 else f"{n} people's labels: {grades}."
    return Step("Labels that count", text, ids)


def _adjudicated(events: Sequence[Event], pair: Pair) -> list[Step]:
    ids = tuple(event.id for event in events if event.kind == "adjudicate")[-1:]
    if pair.adjudicated is not None:
        return [Step("Adjudicated", f"Grade {pair.adjudicated}.", ids)]
    if pair.is_set_aside:
        return [Step("Adjudicated", "Set aside: it has no grade for now.", ids)]
    return []


def _open(pair: Pair, settings: Settings) -> tuple[Step, int | None]:
    if settings.unresolved == Unresolved.LOWER_MEDIAN and pair.labels:
        text = "It is open: nobody has settled the disagreement, and the lower median stands in."
        return Step("Outcome", text), lower_median(pair.grades)
    return Step("Outcome", "It is open: the pair has no grade until somebody settles it."), None
