"""To the provider, and back from it."""

import time

from django.conf import settings
from django.contrib.auth import login, logout
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from benchmarks_app.common.selectors.factors import has_second_factor
from benchmarks_app.oidc import client
from benchmarks_app.oidc.provider import Provider
from benchmarks_app.oidc.services.accounts import account_of
from benchmarks_app.people import second_step
from benchmarks_app.sessions import PROVIDER
from benchmarks_app.sign_ins import remember_device

BACKEND = "benchmarks_app.oidc.backend.ProviderBackend"
THEN = "page_after_provider"


def _provider() -> Provider:
    if settings.OIDC is None:
        raise Http404
    provider: Provider = settings.OIDC
    return provider


@never_cache
@require_POST
def provider_sign_in(request: HttpRequest) -> HttpResponse:
    provider = _provider()
    then = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        then, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    request.session[THEN] = then if is_ours else ""
    back = request.build_absolute_uri(reverse("provider-callback"))
    return client.lead_there(request, provider, back)


@never_cache
@require_GET
def provider_callback(request: HttpRequest) -> HttpResponse:
    """Signs in whom the provider names; a second factor that they have here is asked for next."""
    provider = _provider()
    who = client.signed_in(request, provider)
    then = request.session.pop(THEN, "") or resolve_url(settings.LOGIN_REDIRECT_URL)
    user = account_of(provider=provider, claims=who.claims)
    if request.user.is_authenticated:
        logout(request)
    after = request.build_absolute_uri(reverse("sign-in"))
    end = client.sign_out_address(provider, who.id_token, after)
    request.session[PROVIDER] = {"at": int(time.time()), "end": end}
    user.backend = BACKEND
    if has_second_factor(user):
        return second_step.begin(request, user, then)
    login(request, user, backend=BACKEND)
    response = redirect(then)
    remember_device(request, response, user)
    return response
