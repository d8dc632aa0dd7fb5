"""Pairs that a machine and a person grade far apart, with what became of them; and examples."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, F, OuterRef, QuerySet, Subquery, TextChoices, Value, When
from django.db.models.functions import Abs

from annotation.agreement.selectors.adjudication import decision_on
from annotation.campaigns.selectors import contents_by_docid
from annotation.models import Campaign, CampaignPair, GradeExample, Judgment
from benchmarks_app.models import Benchmark, DocumentContent, Query, User

LEAST_APART = 2
# How much of each part a proposed example takes over.
PART_CHARACTERS, EVIDENCE_CHARACTERS = 200, 300


class State(TextChoices):
    OPEN = "open", "open"
    DECIDED = "decided", "decided"
    ALL = "all", "all"


class Direction(TextChoices):
    BOTH = "", "both"
    HIGHER = "higher", "machine higher"
    LOWER = "lower", "machine lower"


def least_apart(benchmark: Benchmark) -> int:
    """From how many grades on two contradict each other; a scale of two has no more than one."""
    values = list(benchmark.grades.order_by("value").values_list("value", flat=True))
    return LEAST_APART if values and values[-1] - values[0] >= LEAST_APART else 1


def contradictions_of(campaign: Campaign, *, state: str, direction: str) -> QuerySet[Any]:
    """Pairs that the campaign grades far from the first person's label, the furthest first.

    Each has `label` (the key of that label), `away` (machine minus person), `apart` and `decision`
    (the key of an adjudicator's newest word, or None).
    """
    rows = _labelled(campaign).filter(apart__gte=least_apart(campaign.benchmark))
    if state == State.OPEN:
        rows = rows.filter(decision=None)
    elif state == State.DECIDED:
        rows = rows.filter(decision__isnull=False)
    if direction == Direction.HIGHER:
        rows = rows.filter(away__gt=0)
    elif direction == Direction.LOWER:
        rows = rows.filter(away__lt=0)
    return rows.select_related("query__family", "judgment").order_by("-apart", "number")


def _labelled(campaign: Campaign) -> QuerySet[Any]:
    """The graded pairs, with the first person's label where there is one."""
    of_pair = Judgment.objects.filter(
        benchmark=campaign.benchmark_id, query=OuterRef("query"), docid=OuterRef("docid")
    )
    # The same label that calibration holds the machine against.
    labels = (
        of_pair.current()
        .wanted()
        .filter(kind__in=Judgment.GRADES, grade__isnull=False)
        .order_by("pk")
    )
    decisions = of_pair.filter(kind=Judgment.Kind.ADJUDICATE, superseded_by=None).order_by("-pk")
    graded = campaign.pairs.filter(state=CampaignPair.State.GRADED).annotate(
        label=Subquery(labels.values("pk")[:1]),
        away=F("judgment__grade") - Subquery(labels.values("grade")[:1]),
        decision=Subquery(decisions.values("pk")[:1]),
    )
    return graded.annotate(apart=Abs("away"))


@dataclass(frozen=True)
class Counts:
    """How many pairs both graded, and how many of them contradict each other."""

    n_both: int
    n: int
    n_open: int
    n_higher: int
    n_lower: int


def counts_of(campaign: Campaign) -> Counts:
    """Counted in one query, which looks up each pair's label and decision once."""
    least = least_apart(campaign.benchmark)
    is_open = Case(When(decision=None, then=Value(1)), default=Value(0))
    pairs = _labelled(campaign).order_by().annotate(is_open=is_open)
    grouped = pairs.values_list("away", "is_open").annotate(n=Count("pk"))
    # Without a label nothing is away from it.
    rows = [(away, waits, n) for away, waits, n in grouped if away is not None]
    far = [(away, waits, n) for away, waits, n in rows if abs(away) >= least]
    return Counts(
        n_both=sum(n for *_, n in rows),
        n=sum(n for *_, n in far),
        n_open=sum(n for _, waits, n in far if waits),
        n_higher=sum(n for away, _, n in far if away > 0),
        n_lower=sum(n for away, _, n in far if away < 0),
    )


@dataclass(frozen=True)
class Contradiction:
    """One pair, as the page and the API show it.

    `label` is the first person's, `others` are the grades of further people, of each the newest:
    who was asked again in another pool is no other person. `is_own` tells whether
    who looks has said something of it, `example` is the one that rests on it, where there is one.
    """

    pair: CampaignPair
    label: Judgment
    others: list[int]
    decision: Judgment | None
    content: DocumentContent | None
    is_own: bool
    example: GradeExample | None

    @property
    def machine(self) -> Judgment:
        assert self.pair.judgment is not None
        return self.pair.judgment

    @property
    def title(self) -> str:
        return self.content.title if self.content else ""


def shown(campaign: Campaign, pairs: Sequence[CampaignPair], viewer: User) -> list[Contradiction]:
    """Pairs of `contradictions_of` with all that is said of them; as many queries as for one."""
    benchmark = campaign.benchmark
    rows: list[Any] = list(pairs)
    judgments = Judgment.objects.filter(
        benchmark=benchmark,
        query__in=[row.query_id for row in rows],
        docid__in=[row.docid for row in rows],
    )
    grades: dict[tuple[int, str], list[Judgment]] = {}
    for label in judgments.current().wanted().filter(kind__in=Judgment.GRADES).order_by("pk"):
        grades.setdefault((label.query_id, label.docid), []).append(label)
    own = judgments.filter(actor=viewer, rater="", kind__in=Judgment.LABELS)
    judged = set(own.values_list("query_id", "docid"))
    contents = contents_by_docid(benchmark, [row.docid for row in rows])
    # By key: a label that is changed while the page is made is shown as it was.
    words = Judgment.objects.in_bulk(
        [word for row in rows for word in (row.label, row.decision) if word]
    )
    standing = benchmark.grade_examples.standing().filter(judgment__in=words)
    examples = {example.judgment_id: example for example in standing}
    return [
        Contradiction(
            pair=row,
            label=words[row.label],
            others=_others(grades.get((row.query_id, row.docid), []), words[row.label]),
            decision=words.get(row.decision),
            content=contents.get(row.docid),
            is_own=(row.query_id, row.docid) in judged,
            example=examples.get(row.label) or examples.get(row.decision),
        )
        for row in rows
    ]


def _others(labels: Iterable[Judgment], first: Judgment) -> list[int]:
    """The newest grade of each person but the one whose label is the first."""
    newest = {(label.actor_id, label.rater): label.grade for label in labels}
    newest.pop((first.actor_id, first.rater), None)
    return [grade for grade in newest.values() if grade is not None]


# --- examples --------------------------------------------------------------------------------


def examples_of(benchmark: Benchmark) -> QuerySet[GradeExample]:
    """Those that stand first, by grade; then what was withdrawn. Each has its `grade_now`."""
    related = ("judgment__query__family", "created_by", "benchmark")
    examples = benchmark.grade_examples.select_related(*related).with_grade_now()
    return examples.annotate(n_prompts=Count("prompts")).order_by(
        F("withdrawn_at").asc(nulls_first=True), "judgment__grade", "pk"
    )


def word_on(benchmark: Benchmark, query: Query, docid: str) -> Judgment | None:
    """What people say of a pair: how it was settled, else the first label; None where nothing."""
    decision = decision_on(benchmark, query.pk, docid)
    if decision is not None and decision.grade is not None:
        return decision
    labels = (
        Judgment.objects.current().wanted().filter(benchmark=benchmark, kind__in=Judgment.GRADES)
    )
    return labels.filter(query=query, docid=docid, grade__isnull=False).order_by("pk").first()


def proposed_text(word: Judgment, content: DocumentContent | None, label: Judgment) -> str:
    """What an example of a judgment may say, for its owner to change.

    `label` is the annotator's, whose evidence and reasons are taken where a decision has none.
    """
    title = content.title if content and content.title else word.docid
    lines = [f"Query: {_clipped(word.query.shown_text)}", f"Document: {_clipped(title)}"]
    if quoted := " … ".join(span["text"] for span in label.evidence):
        lines.append(f"It says: {_clipped(quoted, EVIDENCE_CHARACTERS)}")
    if why := word.note or word.reason or label.note or label.reason:
        lines.append(f"Why {word.grade}: {_clipped(why)}")
    return "\n".join(lines)


def _clipped(text: str, most: int = PART_CHARACTERS) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
