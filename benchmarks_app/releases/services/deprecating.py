"""Saying that a release should not be used any more: why, and what to use instead."""

from django.db import transaction
from django.utils import timezone

from benchmarks_app.common.services import audit
from benchmarks_app.models import Release, User
from benchwright.releases.errors import DeprecationError


@transaction.atomic
def deprecate_release(
    *, user: User, release: Release, reason: str, successor: Release | None = None
) -> Release:
    """Mark a published release as deprecated; it can still be read and scored on.

    Raises
    ------
    DeprecationError
        If it is not published, no reason is given, or the successor is none that can be used.
    """
    row = Release.objects.select_for_update().get(pk=release.pk)
    if row.state != Release.State.PUBLISHED:
        text = f"Release {row.version} is {row.get_state_display()}; only a published one can "
        raise DeprecationError(reason=text + "be deprecated.")
    if not reason.strip():
        raise DeprecationError(reason="Say why: whoever has used the release will ask.")
    if successor is not None:
        _refuse_successor(row, successor)
    row.state = Release.State.DEPRECATED
    row.deprecated_at = timezone.now()
    row.deprecated_reason = reason.strip()
    row.successor = successor
    row.save(update_fields=["state", "deprecated_at", "deprecated_reason", "successor"])
    audit.record(
        actor=user,
        action="deprecate-release",
        benchmark=row.benchmark,
        target=row.version,
        reason=reason.strip(),
        successor=successor.version if successor else None,
    )
    return row


def _refuse_successor(release: Release, successor: Release) -> None:
    usable = Release.objects.filter(benchmark=release.benchmark_id, state=Release.State.PUBLISHED)
    if not usable.exclude(pk=release.pk).filter(pk=successor.pk).exists():
        raise DeprecationError(
            reason=f"{successor.version} can not be used instead of {release.version}: choose "
            "another published release of this benchmark."
        )
