"""What a pool's labels tell, ready when its page is opened however many there are."""

from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from annotation.models import Pool
from annotation.pools.selectors import newest_event, read_signals
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job, User

JOB_KIND = "watch-pool"
# So many documents and labels are read in a tenth of a second; more are a job's work.
AT_ONCE = 5000
KEPT_SECONDS = 3600
# While people judge, a large pool's numbers are as old as this; a page says how old.
REFRESHED_AFTER = timedelta(minutes=5)


def signals_of(pool: Pool, viewer: User | None) -> dict[str, Any] | None:
    """What `read_signals` gives, with `event` and `at`; None while a job puts it together.

    A small pool's are always of now. A large pool's are those that the last job left with the
    pool; if they are behind, another job is started for the viewer.
    """
    event = newest_event(pool)
    stored = pool.statistics.get("signals")
    if stored and stored["event"] == event:
        return stored
    # A restored database may use a key again, but not at the same moment.
    key = f"pool-signals-{pool.pk}-{pool.created_at.timestamp()}-{event}"
    if known_signals := cache.get(key):
        return known_signals
    if pool.n_entries + pool.judgments.count() > AT_ONCE:
        _refresh(pool, stored, viewer)
        return stored
    signals = _read(pool)
    cache.set(key, signals, KEPT_SECONDS)
    return signals


def _read(pool: Pool) -> dict[str, Any]:
    event = newest_event(pool)  # first: what comes meanwhile makes the numbers old, not wrong
    return {**read_signals(pool), "event": event, "at": timezone.now().isoformat()}


def _refresh(pool: Pool, stored: dict[str, Any] | None, viewer: User | None) -> None:
    """Start a job, unless one is on its way, failed lately, or the numbers are young."""
    lately = timezone.now() - REFRESHED_AFTER
    if stored and datetime.fromisoformat(stored["at"]) > lately:
        return
    with transaction.atomic():
        # Pages that are opened at once ask one after the other.
        locked = Pool.objects.select_for_update(of=("self",)).get(pk=pool.pk)
        earlier_jobs = _jobs_of(locked)
        if (
            not earlier_jobs.active().exists()
            and not earlier_jobs.filter(created_at__gt=lately).exists()
        ):
            jobs.start(
                kind=JOB_KIND,
                title=f"Read the labels of {pool.name}",
                benchmark=pool.benchmark,
                user=viewer,
                parameters={"pool": pool.pk},
            )


def watch_pool(job: jobs.RunningJob) -> None:
    """The handler: read the labels, and leave what they tell with the pool."""
    pool = Pool.objects.select_related("benchmark").get(pk=job.parameters["pool"])
    signals = _read(pool)
    with job.commit() as result:
        # Read again under the lock: whatever else is in there by now stays.
        locked = Pool.objects.select_for_update(of=("self",)).get(pk=pool.pk)
        locked.statistics = {**locked.statistics, "signals": signals}
        locked.save(update_fields=["statistics"])
        result["url"] = pool.get_absolute_url()
    # The list of jobs keeps the latest, not one for every five minutes that somebody watched.
    _jobs_of(pool).filter(state=Job.State.DONE).exclude(pk=job.row.pk).delete()


def _jobs_of(pool: Pool) -> Any:
    return Job.objects.filter(kind=JOB_KIND, benchmark=pool.benchmark_id, parameters__pool=pool.pk)
