"""Who asks: a token in the header, or the session of the site's own pages."""

from typing import Any

from rest_framework import authentication, exceptions
from rest_framework.request import Request

from benchmarks_app.people.services.api_tokens import token_of

SCHEME = "Bearer"


class TokenAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer SECRET`; asked first, so that its scheme is what a 401 names."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        token = token_of(secret.strip())
        if token is None:
            message = "This token is unknown, revoked or expired. Make a new one on your account."
            raise exceptions.AuthenticationFailed(message, code="token-invalid")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return SCHEME
