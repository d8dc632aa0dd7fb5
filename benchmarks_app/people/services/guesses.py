"""Guesses at somebody's password or code, counted where nobody else can push the count out."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from benchmarks_app.common.selectors.people import named
from benchmarks_app.common.services import audit
from benchmarks_app.errors import ManyTriesError, NoPasswordError, PasswordNeededError
from benchmarks_app.models import AuditEvent, User

WITHIN = timedelta(hours=1)


@transaction.atomic
def take_guess(*, user: User, action: str, most: int, **detail: Any) -> AuditEvent | None:
    """Write down one more guess at a secret of somebody's; None if the hour has had `most`.

    It is written before the guess is looked at, and under a lock: guesses that come at once, to
    whichever process, count as well. With a new password the count begins anew.
    """
    password = User.objects.select_for_update().get(pk=user.pk).password
    under = salted_hmac(action, password).hexdigest()[:8]
    events = AuditEvent.objects.filter(target=named(user.pk), at__gte=timezone.now() - WITHIN)
    if events.filter(action=action, detail__under=under).count() >= most:
        return None
    return audit.record(actor=None, action=action, target=named(user.pk), under=under, **detail)


def knows_password(user: User) -> bool:
    """Whether somebody has a password that counts on this site."""
    return settings.SIGN_IN_BY_PASSWORD and user.has_usable_password()


def check_password_again(*, user: User, password: str) -> None:
    """Refuse a password that is not the person's: a session may be stolen, and guess it.

    Wherever it is asked for, guesses count together; right ones do not stay counted.

    Raises
    ------
    ManyTriesError, PasswordNeededError
        If too many were wrong within the hour, or this one is.
    NoPasswordError
        If they have none, or none that counts.
    """
    if not knows_password(user):
        raise NoPasswordError
    most = settings.AXES_FAILURE_LIMIT
    guess = take_guess(user=user, action="password-try", most=most)
    if guess is None:
        raise ManyTriesError(most=most)
    if not user.check_password(password):
        raise PasswordNeededError
    guess.delete()
