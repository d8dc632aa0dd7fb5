"""Sign-ins go to the audit log, by whichever way they come."""

from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from benchmarks_app.common.selectors.people import named
from benchmarks_app.common.services import audit
from benchmarks_app.forwarding import told_network
from benchmarks_app.limits import is_among_first
from benchmarks_app.models import User


@receiver(user_logged_in)
def write_sign_in(request: HttpRequest, user: User, **_: Any) -> None:
    if _is_of_somebody(request):
        audit.record(
            actor=user, action="sign-in", target=named(user.pk), network=network_of(request)
        )


@receiver(user_login_failed)
def write_failure(
    credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any
) -> None:
    """Whom it was tried for, where there is such an account: what else was typed may be secret."""
    if request and _is_of_somebody(request) and not getattr(request, "axes_locked_out", False):
        account, network = _account(credentials.get("username")), network_of(request)
        audit.record(actor=None, action="sign-in-fail", target=account, network=network)


@receiver(user_locked_out)
def write_lock_out(request: HttpRequest, username: str, **_: Any) -> None:
    """Once an hour for one account from one network: who is locked out may go on trying.

    All names that nobody has are one: their number is whatever somebody types.
    """
    account, network = _account(username), network_of(request)
    if is_among_first(1, of=f"lock-out-of-{account.removeprefix('user ')}-{network}"):
        audit.record(actor=None, action="sign-in-lock", target=account, network=network)


def _account(username: str | None) -> str:
    """How events name whose user name this is; empty if it is nobody's."""
    user = User.objects.filter(username=username or "").only("pk").first()
    return named(user.pk) if user else ""


def _is_of_somebody(request: HttpRequest | None) -> bool:
    """Whether a request came from outside: programs sign in without one."""
    return bool(request and request.META.get("REMOTE_ADDR"))


def network_of(request: HttpRequest) -> str:
    """The network that a request came from, such as 192.0.2.0/24; empty where there is none."""
    return told_network(request.META.get("REMOTE_ADDR", ""))
