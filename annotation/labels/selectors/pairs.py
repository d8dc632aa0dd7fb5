"""The whole history of one document of one query, and how each set of qrels came to its grade."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from annotation.agreement.selectors.adjudication import case_detail
from annotation.common.selectors.ledger import EVENT_FIELDS, SAYS_SOMETHING
from annotation.common.selectors.names import Pseudonyms, pseudonyms_in
from annotation.labels.selectors.raw_judgments import HIDDEN_PURPOSES
from annotation.models import Judgment
from benchmarks_app.models import Benchmark, DocumentContent, Qrel, QrelSet, Query, User
from benchwright.qrels.derivation import Step, explained
from benchwright.qrels.events import Event
from benchwright.qrels.rules import Settings, rule_named


@dataclass(frozen=True)
class PastEvent:
    """An event of a pair as its history shows it.

    `who` gave the label, `entered_by` imported it or is ''; `ended_by` is the event that replaced
    or took it back. `text_number` counts the document's texts from 1, 0 where it is not known
    which was shown; `n_texts` is how many there are.
    """

    event: Judgment
    who: str
    entered_by: str
    ended_by: Judgment | None
    text_number: int
    n_texts: int

    @property
    def is_stale(self) -> bool:
        """Given for another text than the document has now."""
        return bool(self.event.content_hash and self.n_texts) and self.text_number != self.n_texts


def pair_history(
    benchmark: Benchmark, query: Query, docid: str, *, has_names: bool
) -> list[PastEvent]:
    """Every event of a pair in its order.

    Without names people go by pseudonym, and machines, practice, repeats and hidden checks are
    left out: an adjudicator may have to judge them.
    """
    events = events_of_pair(benchmark, query, docid).select_related(
        "actor", "entered_by", "guideline", "pool", "superseded_by", "machine__prompt"
    )
    if not has_names:
        events = events.exclude(purpose__in=HIDDEN_PURPOSES).exclude(kind=Judgment.Kind.MACHINE)
    texts = _texts(benchmark, docid)
    who = _named if has_names else _by_pseudonym(benchmark)
    return [
        PastEvent(
            event=event,
            who=who(event, event.rater),
            entered_by=_entered_by(event, who),
            ended_by=getattr(event, "superseded_by", None),
            text_number=texts.index(event.content_hash) + 1 if event.content_hash in texts else 0,
            n_texts=len(texts),
        )
        for event in events
    ]


def _entered_by(event: Judgment, who: Callable[..., str]) -> str:
    if event.entered_by_id:
        return who(Judgment(actor=event.entered_by), "")
    return who(event, "") if event.rater else ""


def events_of_pair(benchmark: Benchmark, query: Query, docid: str) -> Any:
    return Judgment.events.filter(benchmark=benchmark, query=query, docid=docid).order_by("pk")


def _texts(benchmark: Benchmark, docid: str) -> list[str]:
    """The hashes of what the document said, the present text last."""
    contents = DocumentContent.objects.filter(
        document__corpus=benchmark.corpus_id, document__docid=docid
    )
    return list(contents.order_by("first_seen", "pk").values_list("content_hash", flat=True))


def _named(event: Judgment, rater: str) -> str:
    return rater or str(event.actor)


def _by_pseudonym(benchmark: Benchmark) -> Callable[[Judgment, str], str]:
    name = pseudonyms_in(benchmark)
    return lambda event, rater: name(event.actor_id, rater)


@dataclass(frozen=True)
class PairGrade:
    """The grade that a set of qrels gives a pair, and how it came to it."""

    qrel_set: QrelSet
    grade: int | None
    steps: tuple[Step, ...]
    derived: int | None

    @property
    def differs(self) -> bool:
        """Whether the ledger gives another grade than was published; it should never."""
        return bool(self.steps) and self.grade != self.derived


def pair_grades(
    benchmark: Benchmark, query: Query, docid: str, *, has_names: bool
) -> list[PairGrade]:
    """What each set of qrels makes of a pair, the newest set first; sets without it are left out.

    A set that was imported has no steps: its grade stood in the file. Without names machines' sets
    are left out, as in `pair_history`.
    """
    ready = QrelSet.objects.ready().filter(benchmark=benchmark)
    if not has_names:
        ready = ready.exclude(kind=QrelSet.Kind.MACHINE)
    sets = list(ready.order_by("-pk"))
    grade_of = dict(
        Qrel.objects.filter(qrel_set__in=sets, query=query, docid=docid).values_list(
            "qrel_set", "grade"
        )
    )
    events = _rule_events(benchmark, query, docid)
    grades = [
        _grade_in(qrel_set, query, docid, grade_of.get(qrel_set.pk), events) for qrel_set in sets
    ]
    return [grade for grade in grades if grade.grade is not None or grade.steps]


def _grade_in(
    qrel_set: QrelSet, query: Query, docid: str, grade: int | None, events: list[Event]
) -> PairGrade:
    known_events = [event for event in events if event.id <= (qrel_set.as_of_event or 0)]
    name, parameters = pseudonyms_in(qrel_set.benchmark), qrel_set.parameters
    if viewer := parameters.get("annotator"):
        known_events = [event for event in known_events if _is_own_of(event, {viewer}, name)]
    elif left_out := set(parameters.get("without") or ()):
        known_events = [event for event in known_events if not _is_own_of(event, left_out, name)]
    if not qrel_set.rule or not known_events:
        return PairGrade(qrel_set, grade, (), grade)
    why = explained(
        query.qid,
        docid,
        known_events,
        rule=rule_named(qrel_set.rule, qrel_set.rule_version),
        settings=_settings(qrel_set),
        published=grade,
    )
    return PairGrade(qrel_set, grade, why.steps, why.grade)


def _is_own_of(event: Event, people: set[str], name: Pseudonyms) -> bool:
    """Whether one of these people, known by their pseudonyms, said it themselves."""
    is_own = not event.rater and event.kind != Judgment.Kind.ADJUDICATE
    return is_own and name(event.actor) in people


def _settings(qrel_set: QrelSet) -> Settings:
    stored = qrel_set.parameters.get("settings") or {}
    values = {key: stored[key] for key in Settings.__dataclass_fields__ if key in stored}
    return Settings(**values)


def _rule_events(benchmark: Benchmark, query: Query, docid: str) -> list[Event]:
    rows = events_of_pair(benchmark, query, docid).filter(SAYS_SOMETHING)
    return [Event(*row) for row in rows.values_list(*EVENT_FIELDS)]


def may_adjudicate(benchmark: Benchmark, query: Query, docid: str, user: User) -> bool:
    """Whether a pair is, or was, in this adjudicator's inbox: nobody's own labels come there."""
    case = case_detail(benchmark, query, docid)
    if case is None or user.pk in case.judges:
        return False
    return case.is_open or case.decision is not None
