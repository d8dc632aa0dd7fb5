"""The ledger as it is exported: streamed, however long it is."""

from collections.abc import Callable, Iterator
from datetime import UTC

from django.db.models import F, Max, QuerySet

from annotation.common.selectors.names import pseudonyms_in
from annotation.models import Judgment, Slot
from benchmarks_app.models import Benchmark
from benchwright.qrels.raw_judgments import RawJudgment

ROWS_PER_QUERY = 2000
# What was not judged for its own sake: practice, hidden checks, repeats.
HIDDEN_PURPOSES = [Slot.Kind.PRACTICE, Slot.Kind.GOLD, Slot.Kind.REPEAT]
FROM_FILES = (Judgment.Kind.IMPORT, Judgment.Kind.MACHINE)
# What is told of the judge whom a campaign asked.
MACHINE = ("judge", "model", "prompt_hash", "seed", "parameters", "probabilities", "cost")
FIELDS = (
    "pk",
    "created_at",
    "query__qid",
    "docid",
    "kind",
    "grade",
    "actor_id",
    "rater",
    "reason",
    "note",
    "evidence",
    "confidence",
    "outcome",
    "purpose",
    "pool__name",
    "source",
    "guideline__version",
    "content_hash",
    "view",
    "shown_chars",
    "shown_position",
    "dwell_ms",
    "is_surplus",
    "supersedes_id",
    "superseded_by__pk",
    "entered_by",
    "machine__judge_name",
    "machine__model",
    "machine__prompt__digest",
    "machine__seed",
    "machine__parameters",
    "machine__probabilities",
    "machine__cost",
)


def raw_judgments(
    benchmark: Benchmark, *, is_whole: bool = False, as_of: int | None = None
) -> Iterator[RawJudgment]:
    """Every event in the order of the ledger, up to `as_of` or to what it holds by now.

    `is_whole` has practice, hidden checks and repeats as well. Nothing but a page of rows is held,
    and no transaction stays open while a slow reader takes its time.
    """
    # By an expression, which no index knows: found by that of the pairs, all that is left would be
    # sorted for each page.
    events = Judgment.events.alias(of=F("benchmark") + 0).filter(of=benchmark.pk)
    if not is_whole:
        events = events.exclude(purpose__in=HIDDEN_PURPOSES)
    # What is judged meanwhile belongs to the next export.
    last = events.aggregate(last=Max("pk"))["last"] or 0
    events = events.filter(pk__lte=last if as_of is None else min(as_of, last))
    name = pseudonyms_in(benchmark)
    for row in _by_page(events):
        yield _exported(row, name)


def _by_page(events: QuerySet[Judgment]) -> Iterator[tuple]:
    rows = events.order_by("pk").values_list(*FIELDS)
    after = 0
    while page := list(rows.filter(pk__gt=after)[:ROWS_PER_QUERY]):
        yield from page
        after = page[-1][0]


def _exported(row: tuple, name: Callable[..., str]) -> RawJudgment:
    (event, at, qid, docid, kind, grade, actor, rater, reason, note, evidence, *rest) = row
    (confidence, outcome, purpose, pool, source, guideline, *display) = rest
    (content_hash, view, chars, position, dwell, is_extra, supersedes, superseded_by, *last) = (
        display
    )
    by, *machine = last
    return RawJudgment(
        event=event,
        at=at.astimezone(UTC).isoformat(timespec="milliseconds"),
        query=qid,
        document=docid,
        kind=kind,
        grade=grade,
        annotator=name(actor, rater),
        reason=reason,
        note=note,
        evidence=evidence,
        confidence=confidence,
        outcome=outcome,
        purpose=purpose,
        pool=pool or "",
        source=source,
        entered_by=name(by or actor) if kind in FROM_FILES else "",
        guideline=guideline,
        content_hash=content_hash,
        view=view,
        shown_chars=chars,
        position=position,
        dwell_ms=dwell,
        is_extra=is_extra,
        supersedes=supersedes,
        superseded_by=superseded_by,
        machine=dict(zip(MACHINE, machine, strict=True)) if machine[0] else None,
    )
