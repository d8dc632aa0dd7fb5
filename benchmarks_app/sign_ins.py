"""Wrong passwords: who has to wait, and who cannot be made to wait by somebody else.

A browser that a person signed in with carries a cookie that says so, and is counted by it alone:
whatever others try, from wherever, it can sign in (OWASP, "device cookies").
"""

from datetime import timedelta
from secrets import token_urlsafe

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt, AccessLog
from django.conf import settings
from django.db.models import QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from benchmarks_app.models import User

COOKIE = SALT = "device"
KNOWN_FOR = timedelta(days=90)
# A name may fail so many times as often everywhere as at one address, an address with all names.
ELSEWHERE = 10


class LimitedRequest(HttpRequest):
    """With what django-axes puts on it before it asks its handler."""

    axes_user_agent: str
    axes_ip_address: str


class SignInLimits(AxesDatabaseHandler):
    def get_failures(self, request: LimitedRequest, credentials: dict | None = None) -> int:
        """The most failures of any kind, in units of those of one name at one address."""
        name = get_client_username(request, credentials)
        recent = AccessAttempt.objects.filter(attempt_time__gte=get_cool_off_threshold(request))
        of_name = recent.filter(username=name)
        if device := known_device(request, name):
            # Its failures are written down under this, which nobody else knows.
            request.axes_user_agent = f"device {device}"
            return _failures(of_name.filter(user_agent=request.axes_user_agent))
        at_address = recent.filter(ip_address=request.axes_ip_address)
        most = max(_failures(at_address.filter(username=name)), _failures(at_address) // ELSEWHERE)
        if not _has_signed_in_from(name, request.axes_ip_address):
            most = max(most, _failures(of_name) // ELSEWHERE)
        return most


def known_device(request: HttpRequest, name: str | None) -> str:
    """The secret of a browser that this person signed in with; empty where it is none."""
    cookie = request.get_signed_cookie(COOKIE, default="", salt=SALT, max_age=KNOWN_FOR)
    person, _, device = (cookie or "").partition(":")
    is_theirs = device and User.objects.filter(pk=person, username=name).exists()
    return device if is_theirs else ""


def remember_device(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Let this browser sign the person in again, whatever happens elsewhere."""
    device = known_device(request, user.username) or token_urlsafe(16)
    response.set_signed_cookie(
        COOKIE,
        f"{user.pk}:{device}",
        salt=SALT,
        max_age=KNOWN_FOR,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _failures(attempts: QuerySet) -> int:
    return attempts.aggregate(n=Sum("failures_since_start"))["n"] or 0


def _has_signed_in_from(name: str | None, address: str | None) -> bool:
    since = timezone.now() - KNOWN_FOR
    return AccessLog.objects.filter(
        username=name, ip_address=address, attempt_time__gte=since
    ).exists()
