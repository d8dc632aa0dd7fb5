"""The shared nouns for the site's staff: to look things up, and to mend what has no page.

Whatever is append-only, or written by jobs as a whole with its files, can only be looked at.
Judged labels are not here: who may see them is decided, and written down, by the pages.
"""

from typing import Any, cast

from allauth.account.admin import EmailAddress
from allauth.mfa.admin import Authenticator
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from benchmarks_app.common.selectors.people import named
from benchmarks_app.common.services import audit
from benchmarks_app.errors import PasswordsOffError
from benchmarks_app.models import (
    AuditEvent,
    Benchmark,
    Corpus,
    CorpusVersion,
    Grade,
    Guideline,
    Invitation,
    Job,
    Membership,
    QrelSet,
    Query,
    Release,
    Run,
    Team,
    Upload,
    User,
    WorkerHeartbeat,
)

admin.site.site_header = "Benchwright"
admin.site.site_title = "Benchwright"
admin.site.index_title = "For the site's staff"
admin.site.unregister(Group)
# Secrets, and addresses that this site keeps elsewhere.
admin.site.unregister([Authenticator, EmailAddress])


def staff_sign_in(
    request: HttpRequest, extra_context: dict[str, Any] | None = None
) -> HttpResponse:
    """The way to the site's own sign-in page: one of its own would not ask for a second factor."""
    if request.user.is_authenticated:
        raise PermissionDenied
    return redirect_to_login(request.GET.get("next") or reverse("admin:index"))


def password_change(
    request: HttpRequest, extra_context: dict[str, Any] | None = None
) -> HttpResponse:
    """The way to the site's own page, which counts wrong passwords and asks which tokens stay."""
    return redirect("password-change")


for name, view in (("login", staff_sign_in), ("password_change", password_change)):
    setattr(admin.site, name, view)


def _staff(request: HttpRequest) -> User:
    """Who is at work: nobody else comes to these pages."""
    return cast(User, request.user)


class ReadOnlyAdmin(admin.ModelAdmin):
    """Rows to look at: nobody adds, changes or deletes them here."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class KeptAdmin(admin.ModelAdmin):
    """Rows that may be mended, but that others refer to: not made and not deleted here."""

    action = ""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> LogEntry:
        """In the audit log as well, as a change by a page is."""
        benchmark = obj if isinstance(obj, Benchmark) else None
        target = "" if benchmark else f"{obj._meta.verbose_name} {obj.pk}"
        audit.record(
            actor=_staff(request),
            action=self.action,
            benchmark=benchmark,
            target=target,
            changes=message,
        )
        return super().log_change(request, obj, message)


@admin.register(User)
class PersonAdmin(UserAdmin):
    """Accounts are deleted on the site's own pages, which ask for the password again."""

    list_display = ("username", "email", "is_active", "is_staff", "is_anonymised", "last_login")
    list_filter = ("is_active", "is_staff", "is_anonymised")

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Who works here is changed by superusers alone: whose password one sets, one is."""
        is_below = obj is None or not (obj.is_staff or obj.is_superuser)
        may: bool = super().has_change_permission(request, obj)
        return may and (is_below or request.user.is_superuser)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple:
        ranks = ("email", "is_staff", "is_superuser", "groups", "user_permissions")
        return () if request.user.is_superuser else ranks

    @transaction.atomic
    def user_change_password(self, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.SIGN_IN_BY_PASSWORD:
            raise PasswordsOffError
        return super().user_change_password(*args, **kwargs)

    def log_addition(self, request: HttpRequest, obj: User, message: Any) -> LogEntry:
        audit.record(actor=_staff(request), action="account-create", target=named(obj.pk))
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: User, message: Any) -> LogEntry:
        page = request.resolver_match
        is_password = page is not None and page.url_name == "auth_user_password_change"
        action = "password-change" if is_password else "account-change"
        audit.record(actor=_staff(request), action=action, target=named(obj.pk), changes=message)
        return super().log_change(request, obj, message)


@admin.register(Team)
class TeamAdmin(KeptAdmin):
    action = "team-change"
    search_fields = ("name",)
    filter_horizontal = ("members",)


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    """Changed on the people page, which keeps an owner in every benchmark."""

    list_display = ("user", "benchmark", "role", "created_at")
    list_filter = ("role",)
    list_select_related = ("user", "benchmark")
    search_fields = ("user__username", "benchmark__slug")


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ("benchmark", "role", "created_by", "expires_at", "accepted_by", "revoked_at")
    list_select_related = ("benchmark", "created_by", "accepted_by")
    exclude = ("secret_digest",)


class GradeInline(admin.TabularInline):
    model = Grade
    extra = 0
    can_delete = False
    fields = ("value", "name", "anchor", "is_relevant")
    # The ledger holds grades by value: what a value means can be worded better, not moved.
    readonly_fields = ("value", "is_relevant")

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Benchmark)
class BenchmarkAdmin(KeptAdmin):
    action = "change-settings"
    list_display = ("name", "slug", "corpus", "visibility", "created_at")
    list_filter = ("visibility",)
    list_select_related = ("corpus",)
    search_fields = ("name", "slug")
    readonly_fields = ("corpus", "unit", "tie_rule", "created_at")
    inlines = (GradeInline,)


@admin.register(Corpus)
class CorpusAdmin(KeptAdmin):
    action = "change-corpus"
    list_display = ("name", "owner", "kind", "unit", "lang")
    list_select_related = ("owner",)
    search_fields = ("name",)
    readonly_fields = ("kind", "unit", "created_at")


@admin.register(CorpusVersion)
class CorpusVersionAdmin(ReadOnlyAdmin):
    list_display = ("corpus", "number", "n_documents", "n_bytes", "created_at")
    list_select_related = ("corpus",)


@admin.register(Guideline)
class GuidelineAdmin(ReadOnlyAdmin):
    list_display = ("benchmark", "version", "created_at")
    list_select_related = ("benchmark",)


@admin.register(Query)
class QueryAdmin(ReadOnlyAdmin):
    list_display = ("qid", "text", "benchmark")
    list_select_related = ("benchmark",)
    search_fields = ("qid", "text")


@admin.register(Upload)
class UploadAdmin(ReadOnlyAdmin):
    list_display = ("name", "benchmark", "owner", "size", "imported_as", "created_at")
    list_select_related = ("benchmark", "owner")
    search_fields = ("name", "sha256")


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ("name", "benchmark", "owner", "kind", "n_queries", "depth", "created_at")
    list_filter = ("kind",)
    list_select_related = ("benchmark", "owner")
    search_fields = ("name", "sha256")


@admin.register(QrelSet)
class QrelSetAdmin(ReadOnlyAdmin):
    list_display = ("name", "benchmark", "kind", "state", "n_qrels")
    list_filter = ("kind", "state")
    list_select_related = ("benchmark",)


@admin.register(Release)
class ReleaseAdmin(ReadOnlyAdmin):
    list_display = ("benchmark", "__str__", "state")
    list_select_related = ("benchmark",)


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ("title", "kind", "benchmark", "created_by", "state", "attempt", "created_at")
    list_filter = ("state", "kind")
    list_select_related = ("benchmark", "created_by")
    exclude = ("token",)


@admin.register(WorkerHeartbeat)
class WorkerHeartbeatAdmin(ReadOnlyAdmin):
    list_display = ("name", "started_at", "seen_at")


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ("at", "action", "target", "actor_id", "benchmark_id")
    list_filter = ("action",)
    # Who and where are numbers: an event outlives what it speaks of.
    fields = ("at", "action", "target", "actor_id", "benchmark_id", "detail")
    date_hierarchy = "at"

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.fields
