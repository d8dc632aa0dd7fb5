"""Second factors: one's own, and the page that asks for them after the password."""

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from benchmarks_app.common.selectors.factors import (
    CODES,
    KEY,
    SECOND,
    TOTP,
    factors_of,
    lacks_factor,
    n_codes_left,
    second_factors_of,
)
from benchmarks_app.errors import ManyCodesError, ManyFactorsError
from benchmarks_app.models import User
from benchmarks_app.people import second_step
from benchmarks_app.people.forms.factors import (
    PasswordAgainForm,
    SecondFactorForm,
    SecurityKeyForm,
    TotpForm,
)
from benchmarks_app.people.services import factors
from benchmarks_app.requests import PersonRequest

NEW_SECRET = "totp_secret"
CODES_PAGE = "benchmarks_app/people/recovery_codes_create.html"


def _posted(request: HttpRequest) -> QueryDict | None:
    """What a form is bound to; an empty post is one, too."""
    return request.POST if request.method == "POST" else None


# --- signing in ----------------------------------------------------------------------------


@never_cache
@sensitive_post_parameters("code", "credential")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_second(request: HttpRequest) -> HttpResponse:
    """After the password, whose session is kept waiting; without it, the way back to it."""
    user = second_step.awaited_user(request)
    if user is None:
        return redirect("sign-in")
    form = SecondFactorForm(_posted(request))
    if form.is_bound:
        if _is_second_factor(request, user, form):
            return second_step.finish(request, user)
        second_step.count_wrong(request, user)
    kinds = set(factors_of(user).values_list("type", flat=True))
    context = {
        "form": form,
        "has_app": TOTP in kinds,
        "options": factors.authentication_options(user) if KEY in kinds else None,
    }
    status = 422 if form.is_bound else 200
    return render(request, "registration/sign_in_second.html", context, status=status)


def _is_second_factor(request: HttpRequest, user: User, form: SecondFactorForm) -> bool:
    try:
        may_try = second_step.may_try(request, user)
    except ManyCodesError:
        factors.tell_of_guesses(user)
        raise
    if not may_try or not form.is_valid():
        return False
    code, credential = form.cleaned_data["code"], form.cleaned_data["credential"]
    if credential is not None:
        if factors.use_key(user=user, credential=credential):
            return True
        text = _("This key is not one of your account. Try again, or use a code.")
        form.add_error(None, text)
    elif code and factors.use_code(user=user, code=code):
        return True
    else:
        form.add_error("code", _("This code is wrong, too old, or was used already."))
    return False


# --- one's own -----------------------------------------------------------------------------


@never_cache
@login_required
@require_GET
def factor_list(request: PersonRequest) -> HttpResponse:
    own = list(factors_of(request.user))
    codes = next((factor for factor in own if factor.type == CODES), None)
    is_asked = lacks_factor(request.user.pk)
    context = {
        "factors": [factor for factor in own if factor.type in SECOND],
        "has_app": any(factor.type == TOTP for factor in own),
        "codes": codes,
        "n_codes_left": n_codes_left(codes) if codes else 0,
        "is_asked": is_asked,
        "then": None if is_asked else request.session.pop(second_step.ASKED_PAGE, None),
    }
    return render(request, "benchmarks_app/people/factor_list.html", context)


@never_cache
@sensitive_post_parameters("password", "code")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def totp_create(request: PersonRequest) -> HttpResponse:
    """An authenticator app; its key waits in the session for the first code."""
    if factors_of(request.user).filter(type=TOTP).exists():
        raise ManyFactorsError(most=1, kind="authenticator app")
    secret = request.session.setdefault(NEW_SECRET, factors.new_totp_secret())
    form = TotpForm(_posted(request), request=request, secret=secret)
    if form.is_valid():
        codes = factors.add_totp(user=request.user, secret=secret, step=form.step)
        del request.session[NEW_SECRET]
        return _set_up(request, _("The app is set up."), codes)
    address, picture = factors.totp_picture(request.user, secret)
    context = {
        "form": form,
        "address": address,
        "picture": mark_safe(picture),  # drawn here, of squares alone
        "secret": " ".join(secret[n : n + 4] for n in range(0, len(secret), 4)),
    }
    status = 422 if form.is_bound else 200
    return render(request, "benchmarks_app/people/totp_create.html", context, status=status)


@never_cache
@sensitive_post_parameters("password", "credential")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def security_key_create(request: PersonRequest) -> HttpResponse:
    form = SecurityKeyForm(_posted(request), request=request)
    if form.is_valid():
        name, credential = form.cleaned_data["name"], form.cleaned_data["credential"]
        codes = factors.add_key(user=request.user, name=name, credential=credential)
        if codes is not None:
            return _set_up(request, _("The key is set up."), codes)
        form.add_error(None, _("The key did not answer as asked. Try again."))
    context = {"form": form, "options": factors.registration_options(request.user)}
    status = 422 if form.is_bound else 200
    return render(request, "benchmarks_app/people/security_key_create.html", context, status=status)


@never_cache
@sensitive_post_parameters("password")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def recovery_codes_create(request: PersonRequest) -> HttpResponse:
    """New codes in the place of what is left of earlier ones."""
    get_object_or_404(factors_of(request.user), type=CODES)
    form = PasswordAgainForm(_posted(request), request=request)
    if form.is_valid():
        codes = factors.renew_recovery_codes(user=request.user)
        return render(request, CODES_PAGE, {"codes": codes})
    return render(request, CODES_PAGE, {"form": form}, status=422 if form.is_bound else 200)


@never_cache
@sensitive_post_parameters("password")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def factor_remove(request: PersonRequest, pk: int) -> HttpResponse:
    factor = get_object_or_404(second_factors_of(request.user), pk=pk)
    form = PasswordAgainForm(_posted(request), request=request)
    if form.is_valid():
        factors.remove_factor(factor=factor, actor=request.user)
        messages.success(request, _taken_away(factor))
        return redirect("factor-list")
    n_others = second_factors_of(request.user).exclude(pk=pk).count()
    context = {"factor": factor, "form": form, "is_last": not n_others}
    status = 422 if form.is_bound else 200
    return render(request, "benchmarks_app/people/factor_remove.html", context, status=status)


def _set_up(request: HttpRequest, what: str, codes: list[str]) -> HttpResponse:
    """To the list; or recovery codes, which are part of this one answer and shown nowhere else."""
    messages.success(request, what)
    return render(request, CODES_PAGE, {"codes": codes}) if codes else redirect("factor-list")


def _taken_away(factor: Authenticator) -> str:
    if factor.type == TOTP:
        return _("The authenticator app was taken away.")
    return _("The key “{key}” was taken away.").format(key=factor)
