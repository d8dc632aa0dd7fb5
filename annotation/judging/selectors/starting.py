"""What a person has to read or try before they judge a pool, and how far they are."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import QuerySet

from annotation.common.selectors.screen import current_guideline
from annotation.models import Judgment, KnownGrade, Pool, PoolStart, Slot
from benchmarks_app.models import Guideline, User
from benchwright.agreement.qualification import GUESSED, chance_to_pass, usual_mark
from benchwright.texts.differences import Line, line_changes

PRACTICE_DOCUMENTS = 10


class Step(StrEnum):
    NOTICE = "notice"  # what is recorded, and who sees it
    GUIDELINE = "guideline"  # the first time, or after a change
    PRACTICE = "practice"


def step_before_judging(pool: Pool, annotator: Any) -> Step | None:
    """The first thing that a person has not done yet; None when they may judge."""
    start = PoolStart.objects.filter(pool=pool, annotator=annotator).first()
    if start is None or start.notice_at is None:
        return Step.NOTICE
    newest = pool.benchmark.guidelines.order_by("-version").values_list("pk", flat=True).first()
    if newest is not None and start.guideline_id != newest:
        return Step.GUIDELINE
    if start.practice_at is None and _wants_practice(pool, annotator):
        return Step.PRACTICE
    return None


def _wants_practice(pool: Pool, annotator: Any) -> bool:
    """Practice that was added later is not asked of who judges already.

    Nor of whose grades are enough by now: a mark may be lowered, a practice document removed.
    """
    judged = Judgment.objects.filter(actor=annotator, pool=pool)
    return (
        practice_of(pool).exists()
        and not judged.exclude(purpose=Slot.Kind.PRACTICE).exists()
        and not practice_by(pool, annotator).is_passed
    )


@dataclass(frozen=True)
class Reading:
    """What the start page shows: the guideline, and what changed since this person read it."""

    step: Step | None
    guideline: Guideline | None
    read: Guideline | None
    changes: list[Line]
    n_practice: int


def reading_of(pool: Pool, annotator: User) -> Reading:
    start = PoolStart.objects.filter(pool=pool, annotator=annotator).select_related("guideline")
    begun = start.first()
    newest = current_guideline(pool.benchmark)
    read = begun.guideline if begun else None
    has_changed = False
    changes: list[Line] = []
    if newest is not None and read is not None and read.pk != newest.pk:
        has_changed, changes = True, line_changes(read.text, newest.text)
    return Reading(
        step=step_before_judging(pool, annotator),
        guideline=newest,
        read=read if has_changed else None,
        changes=changes,
        n_practice=min(practice_of(pool).count(), PRACTICE_DOCUMENTS),
    )


# --- practice ------------------------------------------------------------------------------------


def practice_of(pool: Pool) -> QuerySet[KnownGrade]:
    """The pool's practice documents in the order they are given, the same for everybody."""
    rows = KnownGrade.objects.filter(entry__pool=pool, purpose=KnownGrade.Purpose.PRACTICE)
    return rows.select_related("entry__query", "entry__document").order_by("pk")


@dataclass(frozen=True)
class Practised:
    """A practice document and what the person said of it, if they have."""

    known: KnownGrade
    judgment: Judgment | None

    @property
    def is_right(self) -> bool:
        return self.judgment is not None and self.judgment.grade == self.known.grade

    @property
    def distance(self) -> int:
        """How many grades apart the two are; 0 where it was not graded."""
        if self.judgment is None or self.judgment.grade is None:
            return 0
        return abs(self.judgment.grade - self.known.grade)


@dataclass(frozen=True)
class Practice:
    """The practice documents of a pool and how a person did in their latest round.

    `mark` of them graded right let the person judge.
    """

    documents: list[Practised]
    mark: int
    round: int = 1

    @property
    def n_done(self) -> int:
        return sum(practised.judgment is not None for practised in self.documents)

    @property
    def n_right(self) -> int:
        return sum(practised.is_right for practised in self.documents)

    @property
    def n_near(self) -> int:
        return sum(practised.distance == 1 for practised in self.documents)

    @property
    def is_over(self) -> bool:
        return self.next is None

    @property
    def is_passed(self) -> bool:
        return self.is_over and self.n_right >= self.mark

    @property
    def next(self) -> KnownGrade | None:
        return next(
            (practised.known for practised in self.documents if practised.judgment is None), None
        )

    @property
    def place(self) -> int:
        """The number of the document that comes next, from 1."""
        return self.n_done + 1

    def of(self, known: int) -> Practised | None:
        """The document of a known grade, if the person has graded it."""
        done = (practised for practised in self.documents if practised.judgment is not None)
        return next((practised for practised in done if practised.known.pk == known), None)


def practice_by(pool: Pool, annotator: User) -> Practice:
    known_grades = list(practice_of(pool)[:PRACTICE_DOCUMENTS])
    start = PoolStart.objects.filter(pool=pool, annotator=annotator).first()
    practice_round = start.practice_round if start else 1
    judgments = (
        Judgment.objects.current()
        .filter(
            actor=annotator,
            pool=pool,
            purpose=Slot.Kind.PRACTICE,
            slot__round=practice_round,
        )
        .select_related("slot")
    )
    by_entry = {judgment.slot.entry_id: judgment for judgment in judgments if judgment.slot}
    documents = [
        Practised(known_grade, by_entry.get(known_grade.entry_id)) for known_grade in known_grades
    ]
    return Practice(documents, mark_of(pool).needed, practice_round)


@dataclass(frozen=True)
class PracticeMark:
    """How many practice documents have to be right: `usual` where the owner set none.

    `chance` is that of somebody who does not read to get through.
    """

    needed: int
    usual: int
    n_documents: int
    chance: float

    @property
    def is_usual(self) -> bool:
        return self.needed == self.usual

    @property
    def is_guessable(self) -> bool:
        return self.n_documents > 0 and self.chance >= GUESSED

    @property
    def once_in(self) -> int:
        """Somebody who does not read gets through once in so many times."""
        return round(1 / self.chance) if self.chance else 0


def mark_of(pool: Pool) -> PracticeMark:
    """The pass mark of a pool's practice, as many documents as it has."""
    known_values = [known_grade.grade for known_grade in practice_of(pool)[:PRACTICE_DOCUMENTS]]
    n_grades = pool.benchmark.grades.count()
    usual = usual_mark(known_values, n_grades)
    needed = usual if pool.practice_mark is None else min(pool.practice_mark, len(known_values))
    return PracticeMark(
        needed, usual, len(known_values), chance_to_pass(needed, known_values, n_grades)
    )
