"""Whose account a provider's word is: one that is known, one that is linked, or a new one."""

import logging
import re
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from benchmarks_app.common.selectors.people import named
from benchmarks_app.common.services import audit
from benchmarks_app.errors import (
    ProviderAccountClosedError,
    ProviderAccountTakenError,
    ProviderAddressError,
    ProviderAnswerError,
    ProviderDomainError,
    SignInLostError,
)
from benchmarks_app.models import Identity, User
from benchmarks_app.oidc.provider import Provider
from benchmarks_app.oidc.services.groups import follow_groups
from benchmarks_app.people.services.factors import tell
from benchmarks_app.people.services.guesses import knows_password
from benchmarks_app.people.services.people import create_account

log = logging.getLogger(__name__)

LONGEST_NAME = 150
LONGEST_SUBJECT = 255
LONGEST_ADDRESS = 254
NOT_IN_NAMES = re.compile(r"[^\w.+-]")


@transaction.atomic
def account_of(*, provider: Provider, claims: dict[str, Any]) -> User:
    """The account that these claims sign in to, with the roles that its groups give today.

    Raises
    ------
    ProviderAddressError, ProviderDomainError
        If the provider has not verified the address, or it is of no domain that may sign in.
    ProviderAccountTakenError, ProviderAccountClosedError
        If the address is of an account that may not be linked, or the account is closed.
    """
    address = _verified_address(provider, claims)
    subject = claims.get("sub")
    if not isinstance(subject, str) or not subject.isprintable():
        subject = ""
    if not 0 < len(subject) <= LONGEST_SUBJECT:
        raise ProviderAnswerError(label=provider.label, reason="it names nobody")
    of_issuer = Identity.objects.filter(issuer=provider.issuer)
    identity = of_issuer.filter(subject=subject).select_related("user").first()
    if identity is None:
        identity = _new_identity(provider, subject, address, claims)
    if not identity.user.is_active:
        raise ProviderAccountClosedError
    identity.used_at = timezone.now()
    identity.save(update_fields=["used_at"])
    _follow_address(identity.user, address)
    follow_groups(provider=provider, user=identity.user, claims=claims)
    return identity.user


def _verified_address(provider: Provider, claims: dict[str, Any]) -> str:
    address = claims.get("email")
    is_verified = claims.get("email_verified") in (True, "true")
    is_storable = isinstance(address, str) and len(address) <= LONGEST_ADDRESS
    try:
        validate_email(address if is_verified and is_storable else "")
    except ValidationError as error:
        raise ProviderAddressError(label=provider.label) from error
    address = User.objects.normalize_email(address)
    domain = address.rpartition("@")[2]
    if provider.domains and domain not in provider.domains:
        raise ProviderDomainError(domain=domain)
    return address


def _follow_address(user: User, address: str) -> None:
    """Whose address cannot be changed here has the provider's of today, unless another has it."""
    if user.email == address or knows_password(user):
        return
    if User.objects.exclude(pk=user.pk).filter(email__iexact=address).exists():
        log.warning("user %s keeps their address: another account has the provider's", user.pk)
        return
    user.email = user.verified_email = address
    user.save(update_fields=["email"])
    audit.record(actor=user, action="email-change", target=named(user.pk))


def _new_identity(
    provider: Provider, subject: str, address: str, claims: dict[str, Any]
) -> Identity:
    user = User.objects.filter(email__iexact=address).first()
    try:
        with transaction.atomic():
            if user is None:
                user = _new_account(address, claims)
            else:
                _refuse_takeover(provider, user)
            identity = Identity.objects.create(user=user, issuer=provider.issuer, subject=subject)
    except IntegrityError as error:  # the same person, in another window
        raise SignInLostError from error
    audit.record(actor=user, action="identity-link", target=named(user.pk))
    if user.has_usable_password():
        tell(user, f"it can be signed in to through {provider.label} as well")
    return identity


def _refuse_takeover(provider: Provider, user: User) -> None:
    """Whoever may name an address at the provider would have the account of that address here."""
    has_another = user.identities.filter(issuer=provider.issuer).exists()
    if has_another or not (provider.links_accounts and user.has_verified_email):
        raise ProviderAccountTakenError(label=provider.label)


def _new_account(address: str, claims: dict[str, Any]) -> User:
    user = create_account(username=_free_name(address, claims), email=address, password=None)
    user.verified_email = user.email
    user.first_name = _plain(claims.get("given_name"))
    user.last_name = _plain(claims.get("family_name"))
    user.save(update_fields=["verified_email", "first_name", "last_name"])
    return user


def _free_name(address: str, claims: dict[str, Any]) -> str:
    """As at the provider, or of the address; with a number where somebody has that name."""
    wished = _plain(claims.get("preferred_username")) or address
    wished = User.normalize_username(wished).partition("@")[0]
    name = NOT_IN_NAMES.sub("", wished)[: LONGEST_NAME - 10] or "person"
    taken_names = {
        username.casefold()
        for username in User.objects.filter(username__istartswith=name).values_list(
            "username", flat=True
        )
    }
    numbered = (f"{name}-{n}" for n in range(2, len(taken_names) + 3))
    return next(
        candidate for candidate in (name, *numbered) if candidate.casefold() not in taken_names
    )


def _plain(text: Any) -> str:
    printable = (
        "".join(letter for letter in text if letter.isprintable()) if isinstance(text, str) else ""
    )
    return printable.strip()[:LONGEST_NAME]
