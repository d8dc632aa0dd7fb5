"""Changing one's own judgment after the fact, while its pool is open."""

from functools import partial
from typing import cast
from uuid import UUID

from django.db import transaction

from annotation.common.selectors.screen import content_of, current_guideline
from annotation.judging.protocol.errors import PoolClosedError
from annotation.judging.services.judging import record_cant_judge, record_judgment
from annotation.judging.services.tokens import Shown
from annotation.models import Judgment, Pool, Slot
from benchmarks_app.models import User


@transaction.atomic
def change_own_judgment(
    *,
    judgment: Judgment,
    actor: User,
    client_id: UUID,
    grade: int | None = None,
    reason: str = "",
    note: str = "",
) -> Judgment:
    """Judge a document anew that one has judged; the new event takes the place of the old one.

    Raises
    ------
    PoolClosedError
        If the pool is not open.
    GradeNotOnScaleError
        If the benchmark has no such grade.
    """
    # One's own judgments were given in slots, which are in pools.
    slot, pool = cast(Slot, judgment.slot), cast(Pool, judgment.pool)
    if not Pool.objects.open().filter(pk=pool.pk).exists():
        raise PoolClosedError(pool=pool.name)
    content, guideline = content_of(slot), current_guideline(pool.benchmark)
    shown = Shown(
        content_hash=content.content_hash if content else "",
        guideline_id=guideline.pk if guideline else None,
        shown_position=judgment.shown_position,
        view=Judgment.View.FULL,
        shown_chars=len(content.text) if content else None,
    )
    record = (
        partial(record_cant_judge, reason=reason)
        if grade is None
        else partial(record_judgment, grade=grade)
    )
    return record(slot=slot, actor=actor, client_id=client_id, shown=shown, note=note)
