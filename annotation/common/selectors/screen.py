"""What the labeling page shows beside the document."""

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.models import Judgment, Pool, Slot
from annotation.models.judgments import JudgmentQuerySet
from benchmarks_app.models import Benchmark, DocumentContent, Guideline, User


def content_of(slot: Slot) -> DocumentContent | None:
    """What the document of a slot says now; None where the corpus has no texts."""
    return slot.entry.document.contents.order_by("-first_seen", "-pk").first()


def contents_of(documents: Iterable[int]) -> dict[int, DocumentContent]:
    """What each of these documents says now, by its primary key."""
    contents = DocumentContent.objects.filter(document__in=documents).order_by("first_seen", "pk")
    return {content.document_id: content for content in contents}


def current_guideline(benchmark: Benchmark) -> Guideline | None:
    return benchmark.guidelines.order_by("-version").first()


@dataclass(frozen=True)
class Place:
    """Where a person is: the number of the document before them, from 1, of how many."""

    number: int
    total: int

    @property
    def share_done(self) -> float:
        return (self.number - 1) / self.total if self.total else 0.0


# As many of one's own labels may be taken back.
UNDOABLE = 50


def last_judgment_of(pool: Pool, annotator: User | int) -> Judgment | None:
    """The newest judgment that this person may undo."""
    return _own_labels(pool.pk, annotator).current().first()


def undoable_judgments(pool: int, annotator: User | int) -> list[Judgment]:
    """Which of the person's newest labels may be undone, newest first."""
    newest = list(_own_labels(pool, annotator)[:UNDOABLE].values_list("pk", flat=True))
    return list(_own_labels(pool, annotator).current().filter(pk__in=newest))


def _own_labels(pool: int, annotator: User | int) -> JudgmentQuerySet:
    kinds = [Judgment.Kind.GRADE, Judgment.Kind.CANT_JUDGE]
    own = Judgment.objects.filter(actor=annotator, pool=pool, kind__in=kinds)
    return own.exclude(slot=None).exclude(purpose=Slot.Kind.PRACTICE).order_by("-pk")
