"""Who belongs to a benchmark: inviting, joining, changing roles, leaving.

Audit events name people by number only: an event can never be rewritten, and a name in it would
outlive the account.
"""

from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.mail import send_mail
from django.db import models, transaction
from django.template.loader import render_to_string
from django.utils import timezone

from benchmarks_app.common.selectors.people import named
from benchmarks_app.common.services import audit
from benchmarks_app.errors import (
    AccountRemovedError,
    AddressLinkError,
    AddressUnverifiedError,
    InvitationAddressError,
    InvitationClosedError,
    InvitationDaysError,
    InvitationExpiredError,
    InvitationRevokedError,
    InvitationUsedError,
    LastOwnerError,
)
from benchmarks_app.limits import is_among_first
from benchmarks_app.models import AuditEvent, Benchmark, Invitation, Membership, Role, User
from benchmarks_app.models.people import InvitationQuerySet
from benchmarks_app.people.services import mailing

MOST_INVITATION_DAYS = 90
ADDRESS_VERIFY = "address-verify"


class Invited(NamedTuple):
    """An invitation and its secret, which is known only now: the row holds a digest."""

    invitation: Invitation
    secret: str


# --- accounts ------------------------------------------------------------------------------


@transaction.atomic
def create_account(
    *,
    username: str,
    email: str,
    password: str | None,
    is_staff: bool = False,
    is_superuser: bool = False,
) -> User:
    """Write an account whose values a form or a command has validated; None: without a password."""
    user = get_user_model().objects.create_user(
        username, email, password, is_staff=is_staff, is_superuser=is_superuser
    )
    audit.record(actor=user, action="account-create", target=named(user.pk))
    return user


@transaction.atomic
def change_profile(
    *, user: User, first_name: str, last_name: str, email: str, language: str = ""
) -> None:
    """Write name, address and language that a form has validated.

    With a new address, links that were mailed to the old one stop working, and it is unverified.
    """
    has_new_email = email != User.objects.values_list("email", flat=True).get(pk=user.pk)
    user.first_name, user.last_name, user.email = first_name, last_name, email
    user.language = language
    user.save(update_fields=["first_name", "last_name", "email", "language"])
    if has_new_email:
        audit.record(actor=user, action="email-change", target=named(user.pk))


# --- whose an address is -------------------------------------------------------------------


class AddressTokens(PasswordResetTokenGenerator):
    """What a mailed link proves an address by: for one account and address, once, for some days."""

    key_salt = "benchmarks_app.address"

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        # Proofs are counted: an address that is left and taken up again revives no used link.
        n = AuditEvent.objects.filter(target=named(user.pk), action=ADDRESS_VERIFY).count()
        return f"{user.pk}:{user.password}:{user.email}:{n}:{timestamp}"


address_tokens = AddressTokens()


def mail_address_link(*, user: User, link: str) -> None:
    """Mail a link to the address of an account, so often an hour; earlier ones still work."""

    def send() -> None:
        if user.email and is_among_first(
            settings.PASSWORD_RESETS_PER_HOUR, of=f"address-links-of-user-{user.pk}"
        ):
            text = render_to_string("registration/address_email.txt", {"user": user, "link": link})
            send_mail("Confirm your address for Benchwright", text, None, [user.email])

    mailing.send_later(send)


@transaction.atomic
def open_address_link(*, user: User, token: str) -> None:
    """Verify the address of whoever is signed in and has the link that was mailed to it.

    A link of another account proves nothing: somebody may have claimed the reader's address.

    Raises
    ------
    AddressLinkError
        If the link was used, is too old, or is for another account or address.
    """
    locked = User.objects.select_for_update().get(pk=user.pk)
    if not address_tokens.check_token(locked, token):
        raise AddressLinkError
    verify_address(user=locked, actor=user)


@transaction.atomic
def verify_address(*, user: User, actor: User | None) -> None:
    """Write down that the address of an account is its holder's; who calls this has the proof."""
    user.verified_email = user.email
    user.save(update_fields=["verified_email"])
    audit.record(actor=actor, action=ADDRESS_VERIFY, target=named(user.pk))


# --- members -------------------------------------------------------------------------------


@transaction.atomic
def add_member(*, benchmark: Benchmark, user: User, role: Role, actor: User | None) -> Membership:
    """Make somebody a member at least as high as `role`: who has a higher role keeps it.

    Raises
    ------
    AccountRemovedError
        If the account was anonymised.
    """
    if user.is_anonymised:
        raise AccountRemovedError
    membership, is_new = Membership.objects.select_for_update().get_or_create(
        benchmark=benchmark, user=user, defaults={"role": role}
    )
    if not is_new:
        if not is_higher(role, than=Role(membership.role)):
            return membership
        membership.role, membership.is_blindness_lifted = role, False
        membership.save(update_fields=["role", "is_blindness_lifted"])
    audit.record(
        actor=actor, action="member-add", benchmark=benchmark, target=named(user.pk), role=role
    )
    return membership


@transaction.atomic
def change_role(*, membership: Membership, role: Role, actor: User | None) -> Membership:
    """Give a member another role; an owner who stops being one takes their open links along.

    The role that a group gave, given again by somebody, stays whatever becomes of the group.

    Raises
    ------
    LastOwnerError
        If the benchmark would be left without an owner.
    """
    locked = _locked(membership)
    before = Role(locked.role)
    if before == role:
        if actor is not None and locked.role_by_group:
            locked.role_by_group = locked.role_before_group = ""
            locked.save(update_fields=["role_by_group", "role_before_group"])
        return locked
    if before == Role.OWNER:
        _stop_owning(locked, actor)
    # Whom it was lifted for had another task.
    locked.role, locked.is_blindness_lifted = role, False
    locked.save(update_fields=["role", "is_blindness_lifted"])
    audit.record(
        actor=actor,
        action="member-role",
        benchmark=locked.benchmark,
        target=named(locked.user.pk),
        before=before,
        after=role,
    )
    return locked


@transaction.atomic
def change_blindness(*, membership: Membership, is_lifted: bool, actor: User | None) -> Membership:
    """Show somebody results although they may still be asked to judge, or withhold them again."""
    locked = _locked(membership)
    if locked.is_blindness_lifted != is_lifted:
        locked.is_blindness_lifted = is_lifted
        locked.save(update_fields=["is_blindness_lifted"])
        audit.record(
            actor=actor,
            action="member-blindness",
            benchmark=locked.benchmark,
            target=named(locked.user.pk),
            is_lifted=is_lifted,
        )
    return locked


@transaction.atomic
def remove_member(*, membership: Membership, actor: User | None) -> None:
    """End a membership; what the member has judged, run and published stays.

    Raises
    ------
    LastOwnerError
        If the benchmark would be left without an owner.
    """
    locked = _locked(membership)
    if locked.role == Role.OWNER:
        _stop_owning(locked, actor)
    audit.record(
        actor=actor,
        action="member-remove",
        benchmark=locked.benchmark,
        target=named(locked.user.pk),
        role=locked.role,
    )
    locked.delete()


def _locked(membership: Membership) -> Membership:
    """The membership as it is now, while nobody else changes the members of its benchmark."""
    # The benchmark's row is the lock: two owners who demote each other must not both succeed.
    Benchmark.objects.select_for_update().get(pk=membership.benchmark_id)
    return Membership.objects.select_related("benchmark", "user").get(pk=membership.pk)


def _stop_owning(membership: Membership, actor: User | None) -> None:
    if not other_owners(membership).exists():
        raise LastOwnerError(person=membership.user, benchmark=membership.benchmark)
    # A link of one's own making must not lead a former owner back in.
    invitations = membership.user.invitations_made.filter(benchmark=membership.benchmark)
    revoke_open(invitations, actor=actor)


def other_owners(membership: Membership) -> models.QuerySet:
    """Who owns the benchmark beside this member."""
    owners = membership.benchmark.memberships.filter(role=Role.OWNER, user__is_active=True)
    return owners.exclude(pk=membership.pk)


def is_higher(role: Role, *, than: Role) -> bool:
    """Whether one role stands above another, in the order `Role` lists them."""
    order = list(Role)
    return order.index(role) < order.index(than)


# --- invitations ---------------------------------------------------------------------------


@transaction.atomic
def invite(
    *,
    benchmark: Benchmark,
    role: Role,
    actor: User,
    days: int,
    note: str = "",
    email: str = "",
) -> Invited:
    """Make a link with a role and an expiry; its secret is returned here and nowhere kept.

    With an `email` only an account whose verified address that is can accept it.

    Raises
    ------
    InvitationDaysError
        If `days` is not 1 to 90.
    """
    if not 1 <= days <= MOST_INVITATION_DAYS:
        raise InvitationDaysError(days=days, most=MOST_INVITATION_DAYS)
    secret = Invitation.new_secret()
    now = timezone.now()
    invitation = Invitation.objects.create(
        benchmark=benchmark,
        role=role,
        note=note,
        email=email,
        secret_digest=Invitation.digest_of(secret),
        created_by=actor,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    _record(invitation, "invitation-create", actor, role=role, days=days, is_bound=bool(email))
    return Invited(invitation, secret)


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, actor: User) -> None:
    """Close a link that nobody has used; one that is closed already stays as it is."""
    revoke_open(Invitation.objects.filter(pk=invitation.pk), actor=actor)


def revoke_open(invitations: InvitationQuerySet, *, actor: User | None) -> None:
    """Close those of the links that nobody has used."""
    for invitation in invitations.open().select_related("benchmark"):
        same = Invitation.objects.open().filter(pk=invitation.pk)
        if same.update(revoked_at=timezone.now()):
            _record(invitation, "invitation-revoke", actor)


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User) -> Membership:
    """Join the benchmark with the link's role; each link works once, whoever is quicker.

    Who is a member with that role or a higher one changes nothing, and leaves the link unused
    for whom it was meant.

    Raises
    ------
    InvitationAddressError
        If it is for another address than the account's.
    AddressUnverifiedError
        If it is for the account's address, which is not verified.
    InvitationClosedError
        If it expired, was used or revoked.
    """
    if not invitation.is_for(user.email):
        raise InvitationAddressError
    benchmark = invitation.benchmark
    membership = Membership.objects.filter(benchmark=benchmark, user=user).first()
    if membership and not is_higher(Role(invitation.role), than=Role(membership.role)):
        return membership
    if invitation.email and not user.has_verified_email:
        raise AddressUnverifiedError
    same = Invitation.objects.open().filter(pk=invitation.pk)
    if not same.update(accepted_by=user, accepted_at=timezone.now()):
        invitation.refresh_from_db()
        raise why_closed(invitation)
    _record(invitation, "invitation-accept", user)
    return add_member(benchmark=benchmark, user=user, role=Role(invitation.role), actor=user)


@transaction.atomic
def accept_with_new_account(
    *, invitation: Invitation, username: str, email: str, password: str
) -> User:
    """Make an account and join with it, both or neither; an address is to be verified first."""
    user = create_account(username=username, email=email, password=password)
    if not invitation.email:
        accept_invitation(invitation=invitation, user=user)
    return user


def why_closed(invitation: Invitation) -> InvitationClosedError:
    """The error that says why this invitation cannot be accepted."""
    if invitation.accepted_at:
        return InvitationUsedError()
    if invitation.revoked_at:
        return InvitationRevokedError()
    return InvitationExpiredError(expired_on=f"{invitation.expires_at:%d %B %Y}")


def _record(invitation: Invitation, action: str, actor: User | None, **detail: object) -> None:
    audit.record(
        actor=actor,
        action=action,
        benchmark=invitation.benchmark,
        target=f"invitation {invitation.pk}",
        **detail,
    )
