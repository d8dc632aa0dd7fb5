"""What a person has judged themselves, and how long it took. Nobody else's is here."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, cast

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.models import Judgment, Pool, PoolEntry, Slot
from benchmarks_app.common.selectors.words import holds
from benchmarks_app.models import DocumentContent, User
from benchmarks_app.permissions import ALLOWED, Action
from benchwright.progress.pace import Act, active_times

CANT_JUDGE = "x"
SECONDS_PER_MINUTE = 60


def own_judgments(annotator: User) -> QuerySet[Judgment]:
    """A person's labels that stand, the newest first, where they judge still.

    Without practice and without repeats, which are no labels of their own, and without a document
    that is before them again just now: its first grade must not be looked up.
    """
    where = annotator.memberships.filter(role__in=ALLOWED[Action.JUDGE]).values("benchmark")
    is_before_them = Slot.objects.held_by(annotator).filter(entry=OuterRef("slot__entry"))
    return (
        Judgment.objects.current()
        .filter(
            actor=annotator,
            kind__in=[Judgment.Kind.GRADE, Judgment.Kind.CANT_JUDGE],
            benchmark__in=where,
            slot__isnull=False,
        )
        .exclude(purpose__in=[Slot.Kind.PRACTICE, Slot.Kind.REPEAT])
        .exclude(Exists(is_before_them))
        .select_related("query", "pool__benchmark__corpus", "slot__entry")
        .order_by("-pk")
    )


def searched(
    judgments: QuerySet[Judgment], *, words: str = "", grade: str = "", pool: int | None = None
) -> QuerySet[Judgment]:
    """Those whose query, document, note or reason has each of the words; of a grade, of a pool.

    `grade` is a number, or `CANT_JUDGE`.
    """
    if grade == CANT_JUDGE:
        judgments = judgments.filter(kind=Judgment.Kind.CANT_JUDGE)
    elif grade:
        judgments = judgments.filter(grade=int(grade))
    if pool is not None:
        judgments = judgments.filter(pool=pool)
    for word in words.split():
        in_document = _documents().filter(holds("title", word) | holds("text", word))
        judgments = judgments.filter(
            holds("query__text", word)
            | holds("note", word)
            | holds("reason", word)
            | Exists(in_document)
        )
    return judgments


def _documents() -> QuerySet[DocumentContent]:
    """The text that was on the screen of the judgment of the outer query."""
    return DocumentContent.objects.filter(
        document=OuterRef("slot__entry__document"), content_hash=OuterRef("content_hash")
    )


def titles_as_judged(judgments: Iterable[Judgment]) -> dict[tuple[int, str], str]:
    """{(document, hash of its text): its title, or how it begins}."""
    judgments = list(judgments)
    contents = DocumentContent.objects.filter(
        document__in={judgment.slot.entry.document_id for judgment in judgments if judgment.slot},
        content_hash__in={judgment.content_hash for judgment in judgments},
    )
    return {
        (content.document_id, content.content_hash): content.title or content.text[:80]
        for content in contents
    }


@dataclass(frozen=True)
class MachineGrade:
    """What a machine said of a document that the person had graded."""

    judge: str
    grade: int
    reason: str


def machine_grades(judgments: Iterable[Judgment]) -> dict[int, list[MachineGrade]]:
    """{own judgment: the newest grade of each machine}, where the owner of the pool shows them.

    Of closed pools alone, and of no document that another pool still asks about: before the last
    label is given, none may rest on a machine's.
    """
    own: dict[tuple[int, str], list[int]] = defaultdict(list)
    for judgment in judgments:
        if judgment.pool and judgment.pool.has_shown_machine:
            own[judgment.query_id, judgment.docid].append(judgment.pk)
    if not own:
        return {}
    pairs = {"query__in": {query for query, _ in own}}
    documents = {docid for _, docid in own}
    still_asked = set(
        PoolEntry.objects.filter(**pairs, document__docid__in=documents)
        .exclude(pool__state=Pool.State.CLOSED)
        .values_list("query", "document__docid")
    )
    labels = Judgment.machines.current().filter(**pairs, docid__in=documents)
    grades: dict[int, dict[str, MachineGrade]] = {}
    for label in labels.order_by("pk"):
        pair = (label.query_id, label.docid)
        if pair in own and pair not in still_asked:
            grade = MachineGrade(label.rater, cast(int, label.grade), label.note)
            for pk in own[pair]:
                grades.setdefault(pk, {})[label.rater] = grade
    return {pk: list(of_pair.values()) for pk, of_pair in grades.items()}


def pools_judged_by(annotator: User) -> QuerySet[Pool]:
    judged = Judgment.objects.filter(actor=annotator, pool=OuterRef("pk"))
    pools = Pool.objects.filter(Exists(judged)).select_related("benchmark")
    return pools.order_by("benchmark__name", "name", "pk")


# --- hours ---------------------------------------------------------------------------------------


@dataclass
class WorkDay:
    """A person's work in one pool on one day (UTC)."""

    day: date
    pool: Pool
    active: timedelta = timedelta()
    n_grades: int = 0
    n_cant_judge: int = 0
    n_extra: int = 0
    n_practice: int = 0

    @property
    def minutes(self) -> float:
        return self.active.total_seconds() / SECONDS_PER_MINUTE


@dataclass(frozen=True)
class Hours:
    """All days of a person, the newest first."""

    days: list[WorkDay]

    @property
    def minutes(self) -> float:
        return sum(day.minutes for day in self.days)

    @property
    def n_labels(self) -> int:
        return sum(day.n_grades + day.n_cant_judge for day in self.days)


def hours_of(annotator: User, *, since: date | None = None) -> Hours:
    """Active minutes and labels by day and pool; from a day on, where one is given.

    Time counts for whatever was done; labels are those that stand, each on the day it was given,
    practice apart. Extra ones are among the grades and “can't judge”.
    """
    pools = {pool.pk: pool for pool in pools_judged_by(annotator)}
    rows = list(_acts(annotator, since))
    times = active_times(Act(row["created_at"], _duration(row["dwell_ms"])) for row in rows)
    days: dict[tuple[date, int], WorkDay] = {}
    for row, active in zip(rows, times, strict=True):
        day = row["created_at"].astimezone(timezone.get_current_timezone()).date()
        of_day = days.setdefault((day, row["pool"]), WorkDay(day, pools[row["pool"]]))
        of_day.active += active
        _count(of_day, row)
    newest_first = sorted(
        days.values(), key=lambda work_day: (work_day.day, work_day.pool.pk), reverse=True
    )
    return Hours(newest_first)


def _acts(annotator: User, since: date | None) -> Iterable[Mapping[str, Any]]:
    done = Judgment.objects.filter(
        actor=annotator,
        pool__isnull=False,
        kind__in=[Judgment.Kind.GRADE, Judgment.Kind.CANT_JUDGE, Judgment.Kind.RETRACT],
    )
    if since is not None:
        done = done.filter(created_at__date__gte=since)
    return (
        done.annotate(is_over=Q(superseded_by__isnull=False))
        .order_by("created_at", "pk")
        .values("created_at", "dwell_ms", "pool", "kind", "purpose", "is_surplus", "is_over")
    )


def _duration(milliseconds: int | None) -> timedelta | None:
    return None if milliseconds is None else timedelta(milliseconds=milliseconds)


def _count(day: WorkDay, row: Mapping[str, Any]) -> None:
    if row["is_over"] or row["kind"] == Judgment.Kind.RETRACT:
        return
    if row["purpose"] == Slot.Kind.PRACTICE:
        day.n_practice += 1
        return
    day.n_grades += row["kind"] == Judgment.Kind.GRADE
    day.n_cant_judge += row["kind"] == Judgment.Kind.CANT_JUDGE
    day.n_extra += row["is_surplus"]
