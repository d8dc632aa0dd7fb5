"""Between the password and the second factor: a browser says who it is, and nobody is signed in.

And before all else, where the site asks somebody for a second factor who has none.
"""

import time
from collections.abc import Callable

from axes.handlers.proxy import AxesProxyHandler
from django.contrib.auth import login
from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django_htmx.http import HttpResponseClientRedirect

from benchmarks_app.common.selectors.factors import lacks_factor
from benchmarks_app.errors import ManyCodesError
from benchmarks_app.listeners import network_of
from benchmarks_app.models import User
from benchmarks_app.people.services.guesses import take_guess
from benchmarks_app.requests import SiteRequest
from benchmarks_app.sessions import claimed_user
from benchmarks_app.sign_ins import known_device, remember_device

STATE, ASKED_PAGE = "second_step", "page_before_factor"
SECONDS = 600
# Codes an hour for one account, from browsers that it was never signed in with.
CODES_PER_HOUR = 20
# What everybody may open who has to set up a second factor first.
OPEN = {
    "factor-list",
    "totp-create",
    "security-key-create",
    "recovery-codes-create",
    "factor-remove",
    "sign-in",
    "sign-in-second",
    "provider-sign-in",
    "provider-callback",
    "sign-out",
    "password-change",
    "password-reset",
    "password-reset-sent",
    "password-reset-confirm",
    "annotation:judge-session",
    "healthz",
    "readyz",
}


def begin(request: HttpRequest, user: User, then: str) -> HttpResponse:
    """Ask for the second factor of somebody whose password was right."""
    request.session.cycle_key()
    request.session[STATE] = {
        "user": user.pk,
        "backend": user.backend,
        "password": user.get_session_auth_hash(),
        "at": int(time.time()),
        "then": then,
    }
    return redirect("sign-in-second")


def awaited_user(request: HttpRequest) -> User | None:
    """Whose second factor this browser is asked for; None if of nobody, or not any more."""
    state = request.session.get(STATE)
    if not state or time.time() - state["at"] > SECONDS:
        return None
    user = User.objects.filter(pk=state["user"], is_active=True).first()
    if user is None or not constant_time_compare(user.get_session_auth_hash(), state["password"]):
        return None
    return user


def finish(request: HttpRequest, user: User) -> HttpResponse:
    """Sign in, after both."""
    state = request.session.pop(STATE)
    login(request, user, backend=state["backend"])
    response = redirect(state["then"])
    remember_device(request, response, user)
    return response


def may_try(request: HttpRequest, user: User) -> bool:
    """Whether this browser may try a code: wrong ones count as wrong passwords do.

    Raises
    ------
    ManyCodesError
        If too many were tried for the account; with a new password the count begins anew.
    """
    if not known_device(request, user.username):
        network = network_of(request)
        if not take_guess(user=user, action="code-try", most=CODES_PER_HOUR, network=network):
            raise ManyCodesError(most=CODES_PER_HOUR)
    return AxesProxyHandler.is_allowed(request, {"username": user.username})


def count_wrong(request: HttpRequest, user: User) -> None:
    """Count a wrong code as a wrong password; the one too many is answered with the lock-out."""
    credentials = {"username": user.username}
    user_login_failed.send(sender=__name__, credentials=credentials, request=request)


class AskedFactorMiddleware:
    """Leads whom the site asks for a second factor, and who has none, to where it is set up.

    The API says it itself: `api/base.py`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: SiteRequest, view: Callable, args: tuple, kwargs: dict
    ) -> HttpResponse | None:
        match = request.resolver_match
        if (match and match.view_name in OPEN) or request.path_info.startswith("/api/"):
            return None
        me = claimed_user(request)
        if me is None or not lacks_factor(me) or not request.user.is_authenticated:
            return None
        if request.htmx:
            return HttpResponseClientRedirect(reverse("factor-list"))
        if request.method == "GET":
            request.session[ASKED_PAGE] = request.get_full_path()
        return redirect("factor-list")
