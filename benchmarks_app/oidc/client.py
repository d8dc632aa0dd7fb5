"""The talk with the provider: what it says of itself, the way there, and what it says of somebody.

Authlib makes and checks state, nonce and PKCE, and the signature, issuer, audience and times of
what comes back. It is loaded where a provider is configured, when somebody asks for it.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse

from benchmarks_app.errors import (
    ProviderAnswerError,
    ProviderDownError,
    ProviderRefusedError,
    SignInLostError,
)
from benchmarks_app.oidc.provider import Provider

SECONDS = 10
LEEWAY_SECONDS = 60
# What the provider says of itself is asked for again after so long; a new key, at once.
KEPT_SECONDS = 3600
ASKED = ("authorization_endpoint", "token_endpoint", "jwks_uri")
# Signed with a key that only the provider has: with the others, the client could sign for itself.
ASYMMETRIC = ("RS", "ES", "PS", "Ed")


class SignedIn(NamedTuple):
    """What the provider says of somebody, and its words for it, which a sign-out refers to."""

    claims: dict[str, Any]
    id_token: str


def described(provider: Provider) -> dict[str, Any]:
    """What the provider says of itself.

    Raises
    ------
    ProviderDownError, ProviderAnswerError
        If it does not answer, or is not as this site needs it.
    """
    with _talking(provider):
        return _client(provider, _hour()).server_metadata


def fetched_keys(provider: Provider) -> list[dict[str, Any]]:
    """The keys that it signs with, asked for now."""
    with _talking(provider):
        keys: list[dict[str, Any]] = _client(provider, _hour()).fetch_jwk_set(force=True)["keys"]
        return keys


def lead_there(request: HttpRequest, provider: Provider, back: str) -> HttpResponse:
    """To the provider's own page; its answer comes to the address `back`."""
    with _talking(provider):
        response: HttpResponse = _client(provider, _hour()).authorize_redirect(request, back)
        return response


def signed_in(request: HttpRequest, provider: Provider) -> SignedIn:
    """Whom the provider says the browser is, from the answer that it has brought along.

    Raises
    ------
    ProviderDownError, ProviderAnswerError, ProviderRefusedError, SignInLostError
        If it does not answer or its answer is not valid; if it signed nobody in; if this browser
        had not been sent there.
    """
    with _talking(provider):
        client = _client(provider, _hour())
        expected = {
            # As its description has it, which may end with a slash.
            "iss": {"essential": True, "value": client.server_metadata["issuer"]},
            "aud": {"essential": True, "value": provider.client_id},
        }
        token = client.authorize_access_token(
            request, claims_options=expected, leeway=LEEWAY_SECONDS
        )
        if not token.get("userinfo"):
            raise ProviderAnswerError(label=provider.label, reason="there is no ID token in it")
        claims = dict(token["userinfo"])
        wanted_claims = {"email", "email_verified"} | (
            {provider.groups_claim} if provider.grants else set()
        )
        if wanted_claims - set(claims) and client.server_metadata.get("userinfo_endpoint"):
            more = client.userinfo(token=token)
            if more.get("sub") != claims["sub"]:
                reason = "userinfo tells of somebody else"
                raise ProviderAnswerError(label=provider.label, reason=reason)
            claims = {**more, **claims}
        return SignedIn(claims, token["id_token"])


def sign_out_address(provider: Provider, id_token: str, back: str) -> str:
    """Where a browser is signed out at the provider as well; empty where it has no such page."""
    if not described(provider).get("end_session_endpoint"):
        return ""
    address: str = _client(provider, _hour()).create_logout_url(
        post_logout_redirect_uri=back, id_token_hint=id_token, client_id=provider.client_id
    )["url"]
    return address if is_at(provider, address) else ""


def is_at(provider: Provider, address: str) -> bool:
    """Whether an address is at the issuer's own host: elsewhere no page of ours may lead."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}" == provider.origin


def _hour() -> int:
    return int(time.time() // KEPT_SECONDS)


@lru_cache(maxsize=2)
def _client(provider: Provider, hour: int) -> Any:
    """Authlib's client, once it knows the provider; what failed is not kept."""
    from authlib.integrations.django_client import OAuth

    client = OAuth().register(
        "provider",
        client_id=provider.client_id,
        client_secret=provider.secret,
        server_metadata_url=f"{provider.issuer}/.well-known/openid-configuration",
        client_kwargs={
            "scope": provider.scopes,
            "code_challenge_method": "S256",
            "default_timeout": SECONDS,
        },
    )
    metadata = client.load_server_metadata()
    if lacking := [name for name in ASKED if not isinstance(metadata.get(name), str)]:
        reason = f"its description has no {lacking[0]}"
        raise ProviderAnswerError(label=provider.label, reason=reason)
    if str(metadata.get("issuer")).rstrip("/") != provider.issuer:
        reason = f"it calls itself {metadata.get('issuer')}, expected {provider.issuer}"
        raise ProviderAnswerError(label=provider.label, reason=reason)
    if not is_at(provider, metadata["authorization_endpoint"]):
        reason = f"its sign-in page is not at {provider.origin}"
        raise ProviderAnswerError(label=provider.label, reason=reason)
    algorithms = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
    metadata["id_token_signing_alg_values_supported"] = [
        name for name in algorithms if name.startswith(ASYMMETRIC)
    ]
    return client


@contextmanager
def _talking(provider: Provider) -> Iterator[None]:
    """What goes wrong between us, as one of our own errors; no secret is in any of them."""
    from authlib.common.errors import AuthlibBaseError
    from authlib.integrations.base_client.errors import MismatchingStateError
    from joserfc.errors import JoseError
    from requests import RequestException

    try:
        yield
    except MismatchingStateError as error:
        raise SignInLostError from error
    except RequestException as error:
        raise ProviderDownError(label=provider.label) from error
    except AuthlibBaseError as error:
        raise ProviderRefusedError(label=provider.label, reason=error.error) from error
    except (JoseError, ValueError, TypeError, LookupError, AttributeError, RuntimeError) as error:
        reason = getattr(error, "error", "") or "it cannot be read"
        raise ProviderAnswerError(label=provider.label, reason=reason) from error
