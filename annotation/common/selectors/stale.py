"""Labels that were given for another text than the document has now."""

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery

from annotation.models import Judgment, Pool, Slot
from benchmarks_app.models import DocumentContent


def stale_labels(pool: Pool) -> QuerySet[Judgment]:
    """Labels of a pool that somebody stands by, for a text that has changed since; oldest first.

    `.count()` counts them. A label that was given again after the change is not among them, nor is
    one of which it is not known what was read. `current_hash` is the text's of today.
    """
    said_now = (
        DocumentContent.objects.filter(
            document__corpus=pool.benchmark.corpus_id, document__docid=OuterRef("docid")
        )
        .order_by("-first_seen", "-pk")
        .values("content_hash")[:1]
    )
    labels = (
        Judgment.objects.wanted()
        .current()
        .filter(pool=pool, kind__in=Judgment.LABELS)
        .exclude(content_hash="")
        .annotate(current_hash=Subquery(said_now))
        # Of a document without a text it is not known: null is neither the same nor another.
        .exclude(content_hash=F("current_hash"))
    )
    return labels.exclude(Exists(_judged_again())).order_by("pk")


def _judged_again() -> QuerySet[Judgment]:
    """Labels of the offer that was made for a stale one."""
    return (
        Judgment.objects.current()
        .filter(
            slot__entry=OuterRef("slot__entry"),
            slot__kind=Slot.Kind.REJUDGE,
            slot__number=OuterRef("slot__number"),
            slot__round__gt=OuterRef("slot__round"),
        )
        .order_by()
    )


def not_offered(labels: QuerySet[Judgment]) -> QuerySet[Judgment]:
    """Those of the stale labels that wait for nobody yet, and that were wanted in the first place.

    An extra label without a place in the pool is not asked for again.
    """
    offered = Slot.objects.filter(
        entry=OuterRef("slot__entry"),
        kind=Slot.Kind.REJUDGE,
        number=OuterRef("slot__number"),
        round=OuterRef("slot__round") + 1,
    )
    wanted_labels = labels.filter(slot__isnull=False, is_surplus=False)
    return wanted_labels.exclude(Exists(offered.order_by()))


def stale_rows(labels: QuerySet[Judgment]) -> QuerySet[Judgment]:
    """The labels as a page shows them; `is_offered` where they wait to be judged again."""
    offered = Slot.objects.filter(
        entry=OuterRef("slot__entry"),
        kind=Slot.Kind.REJUDGE,
        number=OuterRef("slot__number"),
        round__gt=OuterRef("slot__round"),
    )
    return labels.select_related("query").annotate(is_offered=Exists(offered.order_by()))
