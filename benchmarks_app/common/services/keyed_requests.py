"""Rows of requests with an Idempotency-Key: held while they are answered, kept for a day."""

from datetime import datetime, timedelta

from django.utils import timezone

from benchmarks_app.models import KeyedRequest, User

KEPT_FOR = timedelta(hours=24)


def claim(
    *,
    user: User,
    key_sha256: str,
    fingerprint: str,
    at: datetime,
    over: KeyedRequest | None = None,
) -> tuple[KeyedRequest, bool]:
    """The row of a key, and whether it is the caller's to answer.

    `over` is a row that may be taken over as it was read: of several who do one gets it.
    """
    if over is None:
        return KeyedRequest.objects.get_or_create(
            user=user,
            key_sha256=key_sha256,
            defaults={"fingerprint": fingerprint, "began_at": at},
        )
    same = KeyedRequest.objects.filter(pk=over.pk, began_at=over.began_at, status=over.status)
    is_mine = same.update(fingerprint=fingerprint, began_at=at, status=None, answer="") == 1
    over.began_at, over.status = at, None
    return over, is_mine


def done(keyed: KeyedRequest, *, status: int | None, answer: str) -> None:
    """Write what was answered; without a status the key is free again."""
    held_row = KeyedRequest.objects.filter(pk=keyed.pk, began_at=keyed.began_at, status=None)
    if status is None:
        held_row.delete()
    else:
        held_row.update(status=status, answer=answer)


def drop_old_keyed_requests() -> None:
    KeyedRequest.objects.filter(began_at__lt=timezone.now() - KEPT_FOR).delete()
