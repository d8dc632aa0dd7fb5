"""Who uses the site, and what they may do in which benchmark."""

import hashlib
import secrets
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.crypto import salted_hmac


class User(AbstractUser):
    """An account. Deleting one anonymises it: its judgments stay."""

    # API tokens that the next change of the password leaves as they are.
    tokens_kept: Collection["ApiToken"] = ()
    is_anonymised = models.BooleanField(default=False)
    # The address once its holder has proved it is theirs, by what was mailed there; else empty.
    verified_email = models.EmailField(blank=True, default="", editable=False)
    # A code of LANGUAGES; empty: as the browser says.
    language = models.CharField(max_length=16, blank=True, default="")
    # Rank that a group at the provider gives, and takes back.
    is_staff_by_group = models.BooleanField(default=False, editable=False)

    class Meta(AbstractUser.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(is_staff=True) | Q(is_staff_by_group=False),
                name="user_staff_by_group_is_staff",
            ),
            models.UniqueConstraint(
                fields=["email"], condition=~Q(email=""), name="user_email_once"
            ),
            models.CheckConstraint(
                condition=Q(verified_email__in=["", F("email")]), name="user_verified_is_email"
            ),
        ]

    def __str__(self) -> str:
        return self.get_full_name() or self.username

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        """Write the account; a new address ends the verification of the old one.

        Who is no longer staff is not by a group either.
        """
        if self.verified_email != self.email:
            self.verified_email = ""
        if update_fields is not None and "email" in update_fields:
            update_fields = {*update_fields, "verified_email"}
        self.is_staff_by_group = self.is_staff and self.is_staff_by_group
        if update_fields is not None and "is_staff" in update_fields:
            update_fields = {*update_fields, "is_staff_by_group"}
        super().save(*args, update_fields=update_fields, **kwargs)

    @property
    def has_verified_email(self) -> bool:
        return self.email != "" and self.verified_email == self.email


class Team(models.Model):
    """People who submit together."""

    name = models.CharField(max_length=120, unique=True)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="teams", blank=True)
    # Of these, whom a group at the provider brought in, and takes out again.
    members_by_group = models.ManyToManyField(
        settings.AUTH_USER_MODEL, related_name="teams_by_group", blank=True, editable=False
    )

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    """What a member does in a benchmark; see `permissions.py` for what each may."""

    OWNER = "owner"
    MAINTAINER = "maintainer"
    ADJUDICATOR = "adjudicator"
    ANNOTATOR = "annotator"
    SUBMITTER = "submitter"
    VIEWER = "viewer"


class MembershipQuerySet(models.QuerySet):
    def blind(self) -> Self:
        """Of people who may still be asked to judge, whom a result would sway; unless lifted.

        They may judge and may not see pools: `permissions.ALLOWED`.
        """
        # Pools that people judge, or will; cases. Other apps' relations are named, not imported.
        is_judged = Q(benchmark__pools__state__in=("building", "open", "paused"))
        is_judged |= Q(benchmark__case_sets__takes_verdicts=True)
        return self.filter(is_judged, role=Role.ANNOTATOR, is_blindness_lifted=False)


class Membership(models.Model):
    benchmark = models.ForeignKey(
        "benchmarks_app.Benchmark", models.CASCADE, related_name="memberships"
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role)
    # Lifted by an owner: sees results although they may still be asked to judge.
    is_blindness_lifted = models.BooleanField(default=False)
    # The role, where a group at the provider gave it, and what a person had given before; else
    # empty. A role that a person gives ends both.
    role_by_group = models.CharField(max_length=16, blank=True, default="", editable=False)
    role_before_group = models.CharField(max_length=16, blank=True, default="", editable=False)
    created_at = models.DateTimeField(default=timezone.now)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "user"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
            models.CheckConstraint(
                condition=Q(role_by_group__in=["", F("role")]), name="membership_group_gave_role"
            ),
            models.CheckConstraint(
                condition=Q(role_before_group="")
                | (~Q(role_by_group="") & Q(role_before_group__in=Role.values)),
                name="membership_role_before_group",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        """Write the membership; another role than the group's is a person's."""
        if self.role_by_group != self.role:
            self.role_by_group = self.role_before_group = ""
        if update_fields is not None and "role" in update_fields:
            update_fields = {*update_fields, "role_by_group", "role_before_group"}
        super().save(*args, update_fields=update_fields, **kwargs)


class Identity(models.Model):
    """Whom a provider means: its word for a person, which never changes as an address may."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "identities"
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="identity_once"),
            models.UniqueConstraint(fields=["user", "issuer"], name="identity_once_per_person"),
        ]

    def __str__(self) -> str:
        return f"{self.user} at {self.issuer}"


class InvitationQuerySet(models.QuerySet):
    def open(self) -> Self:
        """Neither used, revoked nor expired."""
        return self.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())

    def of_secret(self, secret: str) -> Self:
        return self.filter(secret_digest=Invitation.digest_of(secret))


class Invitation(models.Model):
    """A link with a role and an expiry; only a digest of its secret is stored."""

    benchmark = models.ForeignKey(
        "benchmarks_app.Benchmark", models.CASCADE, related_name="invitations"
    )
    role = models.CharField(max_length=16, choices=Role)
    note = models.CharField(max_length=200, blank=True)
    email = models.EmailField(blank=True, help_text="Whose account alone may accept; empty: any")
    secret_digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="invitations_made"
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="invitations_accepted",
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invitation_role_known"),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("created_at")), name="invitation_expires_later"
            ),
        ]

    def __str__(self) -> str:
        return f"invitation as {self.role}"

    def is_for(self, email: str) -> bool:
        """Whether it is for an account of this address; how letters are written is the same."""
        return self.email.casefold() in ("", email.casefold(), self.sealed(email))

    @staticmethod
    def sealed(email: str) -> str:
        """What stands for an address that is forgotten, and still lets in who has it."""
        return f"{salted_hmac('invitation', email.casefold()).hexdigest()}@forgotten.invalid"

    @staticmethod
    def new_secret() -> str:
        return secrets.token_urlsafe(32)

    @staticmethod
    def digest_of(secret: str) -> str:
        return hashlib.sha256(secret.encode()).hexdigest()


class Scope(models.TextChoices):
    """What a token is good for, within what its owner's roles allow; see `api/base.py`."""

    READ = "read"
    SUBMIT = "submit"
    JUDGE = "judge"
    MANAGE = "manage"


class ApiTokenQuerySet(models.QuerySet):
    def valid(self, now: datetime | None = None) -> Self:
        """Neither revoked nor expired."""
        return self.filter(revoked_at=None, expires_at__gt=now or timezone.now())


class ApiToken(models.Model):
    """A key for the API in place of a password; only a digest of its secret is stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=120)
    secret_digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    hint = models.CharField(max_length=12, help_text="The secret's first characters, to know it by")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = "API token"
        constraints = [
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("created_at")), name="api_token_expires_later"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"
