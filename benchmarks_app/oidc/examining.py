"""The doctor's part about signing in; told to it when this module is loaded."""

from collections.abc import Iterator

from django.conf import settings
from django.urls import reverse

from benchmarks_app.errors import ProviderError
from benchmarks_app.models import Benchmark, Team
from benchmarks_app.oidc import client
from benchmarks_app.oidc.provider import BENCHMARK, TEAM, Provider
from benchmarks_app.operating.doctor import FINE, ODD, PARTS, WRONG, Found
from benchmarks_app.site_path import whole_address


def sign_in() -> Found:
    """The provider is asked what it is and which keys it signs with; nobody is signed in."""
    provider = settings.OIDC
    if provider is None:
        yield FINE, "by password alone", ""
        return
    try:
        metadata = client.described(provider)
        n_keys = len(client.fetched_keys(provider))
    except ProviderError as error:
        yield WRONG, f"{provider.issuer}: {error}", "Correct OIDC_ISSUER, or see why it is silent."
        return
    if not n_keys:
        yield WRONG, f"{provider.issuer} names no key that it signs with", "Ask who runs it."
    methods = metadata.get("code_challenge_methods_supported")
    if methods is not None and "S256" not in methods:
        what = "the provider says that it knows no PKCE (S256), which is always sent"
        yield ODD, what, "Allow it for this client there, else a stolen code signs in."
    if provider.grants and provider.groups_claim not in metadata.get(
        "claims_supported", [provider.groups_claim]
    ):
        what = f"the provider does not say that it knows the claim {provider.groups_claim}"
        yield ODD, what, "Add it there to what this client is told, or correct OIDC_GROUPS_CLAIM."
    for what in grants_without_end(provider):
        yield WRONG, what, "Make it, or correct OIDC_GROUPS."
    passwords = "passwords as well" if settings.SIGN_IN_BY_PASSWORD else "no passwords"
    yield FINE, f"through {provider.issuer}, {n_keys} keys; {passwords}", ""
    back = whole_address(reverse("provider-callback"))
    yield FINE, f"the provider must lead back to {back}", ""


def grants_without_end(provider: Provider) -> Iterator[str]:
    """What groups would give, and is not there: benchmarks and teams, in words."""
    slugs = set(Benchmark.objects.values_list("slug", flat=True))
    names = set(Team.objects.values_list("name", flat=True))
    for grant in provider.grants:
        known_names = {BENCHMARK: slugs, TEAM: names}.get(grant.kind)
        if known_names is not None and grant.name not in known_names:
            yield f"the group {grant.group} gives a place in the {grant.kind} {grant.name}: none"


PARTS["sign-in"] = sign_in
