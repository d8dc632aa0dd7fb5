"""Pools whose last wanted label has come in, or that were closed before: told once."""

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import timezone

from annotation.models import Pool, Slot
from benchmarks_app.common.services.happening import happened
from benchmarks_app.models.notices import Event

# Whose labels somebody waits for; repeats, checks and practice are none of them.
WANTED = (Slot.Kind.LABEL, Slot.Kind.REJUDGE)


def look_for_finished() -> None:
    """Tell of pools that have all their labels; one that wants more again is not finished."""
    at_work = Pool.objects.filter(state__in=[Pool.State.OPEN, Pool.State.PAUSED])
    wanting = Exists(
        Slot.objects.filter(pool=OuterRef("pk"), state__in=Slot.TO_COME, kind__in=WANTED).order_by()
    )
    at_work.filter(wanting, finished_at__isnull=False).update(finished_at=None)
    finished = at_work.exclude(wanting).filter(finished_at=None, n_wanted__gt=0)
    for pool in finished.select_related("benchmark"):
        finish(pool)


@transaction.atomic
def finish(pool: Pool) -> bool:
    """Write down that a pool is finished, and tell it; False where that was done before."""
    is_first = Pool.objects.filter(pk=pool.pk, finished_at=None).update(finished_at=timezone.now())
    if is_first:
        happened(
            Event.POOL_FINISHED,
            benchmark=pool.benchmark,
            about={"pool": pool.pk},
            path=pool.get_absolute_url(),
            api_path=reverse("api:pool-detail", args=[pool.benchmark.slug, pool.pk]),
        )
    return bool(is_first)
