"""Second factors: set up, used and taken away; the person is told of each change by mail.

Keys, codes and signatures are checked by django-allauth and fido2. What they leave to a cache is
held in the row here, under its lock: that a code is used once, by whichever process.
"""

import json
from functools import partial
from typing import Any

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.utils import decrypt
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone

from benchmarks_app.common.selectors.factors import (
    CODES,
    KEY,
    TOTP,
    factors_of,
    has_second_factor,
    n_codes_left,
)
from benchmarks_app.common.selectors.people import named
from benchmarks_app.common.services import audit
from benchmarks_app.errors import ManyFactorsError
from benchmarks_app.limits import is_among_first
from benchmarks_app.models import User
from benchmarks_app.people.services import mailing

MOST_KEYS = 20
# What a browser says of a key; much more is none.
CREDENTIAL_LENGTH = 20_000
# What reading a credential that was tampered with ends in, by fido2's decoders.
UNREADABLE = (ValidationError, ValueError, TypeError, LookupError, AttributeError)
NAMES = {TOTP: "an authenticator app", KEY: "a security key", CODES: "recovery codes"}


# --- authenticator apps --------------------------------------------------------------------


def new_totp_secret() -> str:
    return totp.generate_totp_secret()


def totp_step(secret: str, code: str, *, after: int = 0) -> int | None:
    """The step of time that a code is of: now, or the one before or after; None if of neither.

    Steps up to `after` are past: a code of theirs was used (RFC 6238, 5.2).
    """
    for step in totp.yield_hotp_counters_from_time():
        expected = totp.format_hotp_value(totp.hotp_value(secret, step))
        if step > after and compare_user_code(actual=code, expected=expected):
            return int(step)
    return None


def totp_picture(user: User, secret: str) -> tuple[str, str]:
    """The address that an app reads a key from, and its QR code as an SVG element."""
    adapter = get_adapter()
    address = adapter.build_totp_url(user, secret)
    drawn = adapter.build_totp_svg(address)
    return address, drawn[drawn.index("<svg") :]


@transaction.atomic
def add_totp(*, user: User, secret: str, step: int) -> list[str]:
    """Set up an app whose code of this step was right; recovery codes, if they are the first.

    Raises
    ------
    ManyFactorsError
        If the person has one already.
    """
    _lock(user)
    if factors_of(user).filter(type=TOTP).exists():
        raise ManyFactorsError(most=1, kind="authenticator app")
    factor = totp.TOTP.activate(user, secret).instance
    factor.data["last_step"] = step
    factor.save(update_fields=["data"])
    return _added(user, factor)


# --- security keys -------------------------------------------------------------------------


def registration_options(user: User) -> dict[str, Any]:
    """What the browser makes a credential with; the challenge is kept in the session."""
    from allauth.mfa.webauthn.internal import auth

    return auth.begin_registration(user, passwordless=False)


def read_credential(text: str) -> dict[str, Any] | None:
    """What a browser said of a key, as far as it is an object at all.

    It is of base64url: nothing in it is escaped, as what a database does not take would be.
    """
    is_plain = len(text) <= CREDENTIAL_LENGTH and "\\u" not in text
    try:
        credential = json.loads(text) if is_plain else None
    except (ValueError, RecursionError):
        return None
    return credential if isinstance(credential, dict) else None


@transaction.atomic
def add_key(*, user: User, name: str, credential: dict[str, Any]) -> list[str] | None:
    """Set up a security key; recovery codes, if they are the first. None if it is not as asked.

    Raises
    ------
    ManyFactorsError
        If the person has `MOST_KEYS`.
    """
    from allauth.mfa.webauthn.internal import auth

    _lock(user)
    if factors_of(user).filter(type=KEY).count() >= MOST_KEYS:
        raise ManyFactorsError(most=MOST_KEYS, kind="security key")
    try:
        registration = auth.complete_registration(credential)
    except UNREADABLE:
        return None
    factor = auth.WebAuthn.add(user, name, credential).instance
    factor.data["sign_count"] = registration.counter
    factor.save(update_fields=["data"])
    return _added(user, factor)


def authentication_options(user: User) -> dict[str, Any]:
    """What the browser asks the person's keys with; the challenge is kept in the session."""
    from allauth.mfa.webauthn.internal import auth

    return auth.begin_authentication(user)


@transaction.atomic
def use_key(*, user: User, credential: dict[str, Any]) -> Authenticator | None:
    """The key of this person that has signed the challenge of this session; None if none has.

    A key that counts its signatures must not count backwards: a copy of it would.
    """
    from allauth.mfa.webauthn.internal import auth

    try:
        data = auth.parse_authentication_response(credential).response.authenticator_data
        factor = auth.complete_authentication(user, credential)
    except UNREADABLE:
        return None
    factor = Authenticator.objects.select_for_update().get(pk=factor.pk)
    before = factor.data.get("sign_count", 0)
    if (before or data.counter) and data.counter <= before:
        return None
    factor.data["sign_count"] = data.counter
    return _used(factor)


# --- codes ---------------------------------------------------------------------------------


@transaction.atomic
def use_code(*, user: User, code: str) -> Authenticator | None:
    """What this is a code of, an app or the recovery codes; it is used up. None if it is wrong."""
    typed = factors_of(user).filter(type__in=(TOTP, CODES)).select_for_update()
    for factor in typed:
        if factor.type == CODES:
            if factor.wrap().validate_code(code):
                factor.refresh_from_db()
                audit.record(actor=user, action="recovery-code-use", target=named(user.pk))
                tell(user, f"a recovery code was used; {n_codes_left(factor)} are left")
                return _used(factor)
            continue
        secret, last = decrypt(factor.data["secret"]), factor.data.get("last_step", 0)
        if step := totp_step(secret, code, after=last):
            factor.data["last_step"] = step
            return _used(factor)
    return None


@transaction.atomic
def renew_recovery_codes(*, user: User) -> list[str]:
    """New codes, to be shown once; earlier ones stop working."""
    _lock(user)
    factors_of(user).filter(type=CODES).delete()
    audit.record(actor=user, action="recovery-codes-create", target=named(user.pk))
    tell(user, "new recovery codes were made, and earlier ones do not work any more")
    return _new_codes(user)


# --- taken away ----------------------------------------------------------------------------


@transaction.atomic
def remove_factor(*, factor: Authenticator, actor: User) -> None:
    """Take one away; recovery codes go with the last of the others."""
    user = factor.user
    _lock(user)
    if not factors_of(user).filter(pk=factor.pk).delete()[0]:
        return
    if not has_second_factor(user):
        factors_of(user).delete()
    audit.record(actor=actor, action="factor-remove", target=named(user.pk), kind=factor.type)
    tell(user, f"{NAMES[factor.type]} was taken away from it")


@transaction.atomic
def remove_all_factors(*, user: User, actor: User | None) -> int:
    """Take all away from somebody who lost theirs; how many they were, but for recovery codes."""
    _lock(user)
    kinds = [factor.type for factor in factors_of(user)]
    factors_of(user).delete()
    if kinds:
        audit.record(actor=actor, action="factor-remove", target=named(user.pk), kind="all")
        tell(user, "all its second factors were taken away by whoever runs the site")
    return len([kind for kind in kinds if kind != CODES])


# --- what these share ----------------------------------------------------------------------


def _lock(user: User) -> None:
    User.objects.select_for_update().get(pk=user.pk)


def _added(user: User, factor: Authenticator) -> list[str]:
    audit.record(actor=user, action="factor-add", target=named(user.pk), kind=factor.type)
    tell(user, f"{NAMES[factor.type]} was set up for it")
    if factors_of(user).filter(type=CODES).exists():
        return []
    return _new_codes(user)


def _new_codes(user: User) -> list[str]:
    """In two groups, for copying by hand; the hyphen need not be typed."""
    codes = RecoveryCodes.activate(user).get_unused_codes()
    return [f"{code[:5]}-{code[5:]}" for code in codes]


def _used(factor: Authenticator) -> Authenticator:
    factor.last_used_at = timezone.now()
    factor.save(update_fields=["data", "last_used_at"])
    return factor


def tell(user: User, what: str) -> None:
    """Mail somebody that how their account is signed in to has changed."""
    if user.email:
        text = render_to_string("registration/factor_email.txt", {"user": user, "what": what})
        subject = "Signing in to your Benchwright account has changed"
        send = partial(send_mail, subject, text, None, [user.email])
        transaction.on_commit(lambda: mailing.send_later(send))


def tell_of_guesses(user: User) -> None:
    """Whoever tries codes knows the password: its owner is told, once an hour."""
    if is_among_first(1, of=f"told-of-guesses-{user.pk}"):
        tell(user, "somebody who knows its password has tried many wrong codes to sign in")
