"""Opening releases for submissions: when, over which split, and how often."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from benchmarks_app.common.services import audit
from benchmarks_app.models import Release, User
from scoring.models import Phase
from scoring.scores.selectors.phases import splits_of
from scoring.scores.services.errors import PhaseDatesError, PhaseExistsError, PhaseSplitError

OPEN_NAME = "Open submissions"
CHANGEABLE = (
    *("name", "opens_at", "closes_at", "daily_limit", "total_limit", "has_ladder", "description"),
)


def open_submissions(*, release: Release) -> Phase:
    """The phase of a published release; made on the first call, the same one afterwards.

    It is of the split `test`, or of what the release has where that is graded by no query.
    """
    splits = splits_of(release)
    split = "test" if "test" in splits or not splits else splits[-1]
    phase, _ = Phase.objects.get_or_create(
        benchmark=release.benchmark,
        release=release,
        split=split,
        defaults={"name": OPEN_NAME, "daily_limit": settings.SUBMISSIONS_PER_DAY},
    )
    return phase


@transaction.atomic
def make_phase(*, release: Release, split: str, user: User, **fields: Any) -> Phase:
    """A phase of a published release and one of its splits; `given` are fields of `CHANGEABLE`.

    Raises
    ------
    PhaseSplitError
        If the release grades no query of the split.
    PhaseExistsError
        If there is one of the release and the split.
    PhaseDatesError
        If it would close before it opens.
    """
    splits = splits_of(release)
    if split not in splits:
        raise PhaseSplitError(release=release.version, split=split, splits=", ".join(splits))
    phase = Phase(benchmark=release.benchmark, release=release, split=split, **_fields(fields))
    _refuse_dates(phase.opens_at, phase.closes_at)
    try:
        with transaction.atomic():
            phase.save(force_insert=True)
    except IntegrityError as error:
        there = Phase.objects.filter(release=release, split=split).first()
        if there is None:
            raise
        raise PhaseExistsError(release=release.version, split=split, name=there.name) from error
    _record(phase, user, "make-phase", **({} if phase.has_ladder else {"ladder": False}))
    return phase


@transaction.atomic
def change_phase(*, phase: Phase, user: User, **changes: Any) -> Phase:
    """Change fields of `CHANGEABLE`; what was submitted stays.

    Raises
    ------
    PhaseDatesError
        If it would close before it opens.
    """
    locked = Phase.objects.select_for_update().get(pk=phase.pk)
    fields, was_laddered = _fields(changes), locked.has_ladder
    for name, value in fields.items():
        setattr(locked, name, value)
    _refuse_dates(locked.opens_at, locked.closes_at)
    locked.save(update_fields=list(fields))
    is_switched = locked.has_ladder != was_laddered
    _record(locked, user, "change-phase", **({"ladder": locked.has_ladder} if is_switched else {}))
    return locked


@transaction.atomic
def close_phase(*, phase: Phase, user: User) -> Phase:
    """Let a phase take nothing more from now on; one that is over stays as it is."""
    locked = Phase.objects.select_for_update().get(pk=phase.pk)
    now = timezone.now()
    if locked.closes_at is not None and locked.closes_at <= now:
        return locked
    locked.opens_at = min(locked.opens_at, now - timedelta(seconds=1))
    locked.closes_at = now
    locked.save(update_fields=["opens_at", "closes_at"])
    _record(locked, user, "close-phase")
    return locked


def _fields(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in CHANGEABLE}


def _refuse_dates(opens_at: datetime, closes_at: datetime | None) -> None:
    if closes_at is not None and closes_at <= opens_at:
        raise PhaseDatesError(opens_at=opens_at, closes_at=closes_at)


def _record(phase: Phase, user: User, action: str, **more: Any) -> None:
    audit.record(
        actor=user,
        action=action,
        benchmark=phase.benchmark,
        target=phase.name,
        release=phase.release.version,
        split=phase.split,
        **more,
    )
