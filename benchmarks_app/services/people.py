"""Who belongs to a benchmark: inviting, joining, changing roles, leaving, being forgotten.

Audit events name people by number only: an event can never be rewritten, and a name in it would
outlive the account.
"""

from datetime import timedelta
from typing import NamedTuple

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.db import models, transaction
from django.utils import timezone

from benchmarks_app.core.people_errors import (
    AccountRemovedError,
    InvitationAddressError,
    InvitationClosedError,
    InvitationDaysError,
    InvitationExpiredError,
    InvitationRevokedError,
    InvitationUsedError,
    LastOwnerError,
)
from benchmarks_app.models import Benchmark, Invitation, Membership, Role, User
from benchmarks_app.services import audit

MOST_INVITATION_DAYS = 90


class Invited(NamedTuple):
    """An invitation and its secret, which is known only now: the row holds a digest."""

    invitation: Invitation
    secret: str


# --- accounts ------------------------------------------------------------------------------


@transaction.atomic
def create_account(
    *, username: str, email: str, password: str, is_staff: bool = False, is_superuser: bool = False
) -> User:
    """Write an account whose values a form or a command has validated."""
    user = get_user_model().objects.create_user(
        username, email, password, is_staff=is_staff, is_superuser=is_superuser
    )
    audit.record(actor=user, action="account-create", target=_named(user))
    return user


@transaction.atomic
def change_profile(*, user: User, first_name: str, last_name: str, email: str) -> None:
    """Write name and address that a form has validated; a reset link sent before stops working."""
    has_new_email = email != User.objects.values_list("email", flat=True).get(pk=user.pk)
    user.first_name, user.last_name, user.email = first_name, last_name, email
    user.save(update_fields=["first_name", "last_name", "email"])
    if has_new_email:
        audit.record(actor=user, action="email-change", target=_named(user))


@transaction.atomic
def anonymise_user(*, user: User, actor: User | None) -> None:
    """Forget who somebody was, and keep what they judged.

    Names, address, password, memberships, teams and records of sign-ins go; the row stays, because
    the ledger of judgments refers to it. Doing it again changes nothing.

    Raises
    ------
    LastOwnerError
        If a benchmark would be left without an owner.
    """
    for signs_in in (AccessAttempt, AccessFailureLog, AccessLog):
        signs_in.objects.filter(username=user.username).delete()
    for membership in user.memberships.select_related("benchmark"):
        remove_member(membership=membership, actor=actor)
    _revoke_open(user.invitations_made.all())
    user.invitations_accepted.update(note="", email="")
    if user.email:
        bound = Invitation.objects.filter(email__iexact=user.email)
        _revoke_open(bound)
        bound.update(note="", email="")
    user.api_tokens.filter(revoked_at=None).update(revoked_at=timezone.now())
    user.teams.clear()
    user.groups.clear()
    user.user_permissions.clear()
    _forget_in_admin_log(user)
    user.username = f"removed-{user.pk}"
    user.first_name = user.last_name = user.email = ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.is_anonymised = True
    user.last_login = None
    user.set_unusable_password()  # ends every session of the account as well
    user.save()
    audit.record(actor=actor, action="user-anonymise", target=_named(user))


def _forget_in_admin_log(user: User) -> None:
    kind = ContentType.objects.get_for_model(User)
    entries = LogEntry.objects.filter(content_type=kind, object_id=str(user.pk))
    entries.update(object_repr=_named(user), change_message="")


def _named(user: User) -> str:
    return f"user {user.pk}"


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
        actor=actor, action="member-add", benchmark=benchmark, target=_named(user), role=role
    )
    return membership


@transaction.atomic
def change_role(*, membership: Membership, role: Role, actor: User | None) -> Membership:
    """Give a member another role; an owner who stops being one takes their open links along.

    Raises
    ------
    LastOwnerError
        If the benchmark would be left without an owner.
    """
    locked = _locked(membership)
    before = Role(locked.role)
    if before == role:
        return locked
    if before == Role.OWNER:
        _stop_owning(locked)
    # Whom it was lifted for had another task.
    locked.role, locked.is_blindness_lifted = role, False
    locked.save(update_fields=["role", "is_blindness_lifted"])
    audit.record(
        actor=actor,
        action="member-role",
        benchmark=locked.benchmark,
        target=_named(locked.user),
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
            target=_named(locked.user),
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
        _stop_owning(locked)
    audit.record(
        actor=actor,
        action="member-remove",
        benchmark=locked.benchmark,
        target=_named(locked.user),
        role=locked.role,
    )
    locked.delete()


def _locked(membership: Membership) -> Membership:
    """The membership as it is now, while nobody else changes the members of its benchmark."""
    # The benchmark's row is the lock: two owners who demote each other must not both succeed.
    Benchmark.objects.select_for_update().get(pk=membership.benchmark_id)
    return Membership.objects.select_related("benchmark", "user").get(pk=membership.pk)


def _stop_owning(membership: Membership) -> None:
    others = membership.benchmark.memberships.filter(role=Role.OWNER, user__is_active=True)
    if not others.exclude(pk=membership.pk).exists():
        raise LastOwnerError(person=membership.user, benchmark=membership.benchmark)
    # A link of one's own making must not lead a former owner back in.
    _revoke_open(membership.user.invitations_made.filter(benchmark=membership.benchmark))


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

    With an `email` only an account of that address can accept it.

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
    if _revoke_open(Invitation.objects.filter(pk=invitation.pk)):
        _record(invitation, "invitation-revoke", actor)


def _revoke_open(invitations: models.QuerySet) -> int:
    return invitations.open().update(revoked_at=timezone.now())


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User) -> Membership:
    """Join the benchmark with the link's role; each link works once, whoever is quicker.

    Who is a member with that role or a higher one changes nothing, and leaves the link unused
    for whom it was meant.

    Raises
    ------
    InvitationAddressError
        If it is for another address than the account's.
    InvitationClosedError
        If it expired, was used or revoked.
    """
    if not invitation.is_for(user.email):
        raise InvitationAddressError
    benchmark = invitation.benchmark
    known = Membership.objects.filter(benchmark=benchmark, user=user).first()
    if known and not is_higher(Role(invitation.role), than=Role(known.role)):
        return known
    same = Invitation.objects.open().filter(pk=invitation.pk)
    if not same.update(accepted_by=user, accepted_at=timezone.now()):
        invitation.refresh_from_db()
        raise why_closed(invitation)
    _record(invitation, "invitation-accept", user)
    return add_member(benchmark=benchmark, user=user, role=Role(invitation.role), actor=user)


@transaction.atomic
def accept_with_new_account(
    *, invitation: Invitation, username: str, email: str, password: str
) -> Membership:
    """Make an account and join with it, both or neither."""
    user = create_account(username=username, email=email, password=password)
    return accept_invitation(invitation=invitation, user=user)


def why_closed(invitation: Invitation) -> InvitationClosedError:
    """The error that says why this invitation cannot be accepted."""
    if invitation.accepted_at:
        return InvitationUsedError()
    if invitation.revoked_at:
        return InvitationRevokedError()
    return InvitationExpiredError(expired_on=f"{invitation.expires_at:%d %B %Y}")


def _record(invitation: Invitation, action: str, actor: User, **detail: object) -> None:
    audit.record(
        actor=actor,
        action=action,
        benchmark=invitation.benchmark,
        target=f"invitation {invitation.pk}",
        **detail,
    )
