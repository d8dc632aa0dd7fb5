"""Keys for the API: made once, shown once, kept as a digest, and good until they expire."""

import hashlib
import secrets
import string
import zlib
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from benchmarks_app.common.services import audit
from benchmarks_app.models import ApiToken, Scope, User
from benchmarks_app.prepared import prepared

# What scanners find a leaked token by: the prefix, so many random digits, and their CRC-32.
PREFIX = "bw_"
DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
N_RANDOM = 43  # 256 bits
N_CHECK = 6
HINT_LENGTH = 8
MOST_DAYS = 365
# That a token was used is written down, but not at each request.
USE_TOLD_EVERY = timedelta(minutes=1)


class Issued(NamedTuple):
    """A token and its secret, which is known only now: the row holds a digest."""

    token: ApiToken
    secret: str


@transaction.atomic
def create_api_token(
    *, user: User, name: str, days: int, scopes: Collection[str] = tuple(Scope)
) -> Issued:
    """Make a token that is good for so many days, at most `MOST_DAYS`, and for these scopes."""
    secret = _new_secret()
    now = timezone.now()
    token = ApiToken.objects.create(
        user=user,
        name=name,
        scopes=[scope.value for scope in Scope if scope in scopes],
        secret_digest=digest_of(secret),
        hint=secret[:HINT_LENGTH],
        created_at=now,
        expires_at=now + timedelta(days=min(days, MOST_DAYS)),
    )
    audit.record(
        actor=user, action="api-token-create", target=f"token {token.pk}", scopes=token.scopes
    )
    return Issued(token, secret)


def _new_secret() -> str:
    random = "".join(secrets.choice(DIGITS) for _ in range(N_RANDOM))
    check = zlib.crc32(random.encode())
    in_base_62 = (DIGITS[check // 62**place % 62] for place in reversed(range(N_CHECK)))
    return PREFIX + random + "".join(in_base_62)


@transaction.atomic
def revoke_api_token(*, token: ApiToken, actor: User) -> None:
    """Stop a token from working, for good; doing it again changes nothing."""
    open_one = ApiToken.objects.filter(pk=token.pk, revoked_at=None)
    if open_one.update(revoked_at=timezone.now()):
        audit.record(actor=actor, action="api-token-revoke", target=f"token {token.pk}")


class TokensEnd:
    """Of Django's password validators the one that is told of a change: API tokens end with it.

    So they do by every way to a new password: the account's page, the link of an email, the admin,
    a command. `User.tokens_kept` stay.
    """

    def validate(self, password: str, user: User | None = None) -> None:
        """Takes every password."""

    def get_help_text(self) -> str:
        return "API tokens end with the password they were made under."

    def password_changed(self, password: str, user: User) -> None:
        kept_pks = [token.pk for token in user.tokens_kept]
        for token in user.api_tokens.valid().exclude(pk__in=kept_pks):
            revoke_api_token(token=token, actor=user)


def digest_of(secret: str) -> str:
    """What is stored of a secret; it has 256 random bits, so a plain digest cannot be guessed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def token_of(secret: str) -> ApiToken | None:
    """The valid token of a secret, with its user; that it was used is written now and then."""
    for token in _tokens(digest_of(secret), timezone.now()):
        _say_used(token)
        return token
    return None


@prepared
def _tokens(digest: str, now: datetime) -> QuerySet[ApiToken]:
    valid = ApiToken.objects.valid(now).filter(user__is_active=True, secret_digest=digest)
    return valid.select_related("user")


def _say_used(token: ApiToken) -> None:
    now = timezone.now()
    long_ago = Q(last_used_at=None) | Q(last_used_at__lt=now - USE_TOLD_EVERY)
    if token.last_used_at is None or token.last_used_at < now - USE_TOLD_EVERY:
        ApiToken.objects.filter(long_ago, pk=token.pk).update(last_used_at=now)
