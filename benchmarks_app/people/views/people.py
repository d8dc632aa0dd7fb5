"""Members of a benchmark, and the links that invite more."""

from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchmarks_app.common.selectors.factors import members_of
from benchmarks_app.errors import InvitationAddressError, InvitationClosedError, PasswordsOffError
from benchmarks_app.language import told, translated
from benchmarks_app.models import Benchmark, Invitation, Membership, Role
from benchmarks_app.people.forms.people import ROLE_HELP, AccountForm, InvitationForm, RoleForm
from benchmarks_app.people.services import people
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest

PAGE_SIZE = 25
INVITATIONS_SHOWN = 200
SIGN_IN_BACKEND = "django.contrib.auth.backends.ModelBackend"


@require_GET
@benchmark_view(Action.MANAGE_PEOPLE)
def people_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    return _people_page(request, benchmark, InvitationForm())


@never_cache
@require_POST
@benchmark_view(Action.MANAGE_PEOPLE)
def invitation_create(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _people_page(request, benchmark, form, status=422)
    invited = people.invite(benchmark=benchmark, actor=request.user, **form.cleaned_data)
    # The link is part of this one answer: after a redirect nobody could know it any more.
    path = reverse("invitation-accept", args=[invited.secret])
    context = {"invitation": invited.invitation, "link": request.build_absolute_uri(path)}
    return render(request, "benchmarks_app/people/invitation_created.html", context)


def _people_page(
    request: HttpRequest, benchmark: Benchmark, form: InvitationForm, status: int = 200
) -> HttpResponse:
    members = members_of(benchmark)
    invitations = benchmark.invitations.open().select_related("created_by").order_by("expires_at")
    context = {
        "form": form,
        "page": Paginator(members, PAGE_SIZE).get_page(request.GET.get("page")),
        "invitations": invitations[:INVITATIONS_SHOWN],
        "roles": Role.choices,
        "role_help": [(role.label, does) for role, does in ROLE_HELP.items()],
        "n_owners": benchmark.memberships.filter(role=Role.OWNER, user__is_active=True).count(),
    }
    return render(request, "benchmarks_app/people/people_list.html", context, status=status)


@require_POST
@benchmark_view(Action.MANAGE_PEOPLE)
def invitation_revoke(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    invitation = get_object_or_404(benchmark.invitations, pk=pk)
    people.revoke_invitation(invitation=invitation, actor=request.user)
    invitation.refresh_from_db()
    if person := invitation.accepted_by:
        message = f"{person} has accepted it already. Remove them from the members if need be."
        messages.error(request, message)
    else:
        messages.success(request, "The invitation was withdrawn; its link no longer works.")
    return redirect("people-list", benchmark.slug)


@require_POST
@benchmark_view(Action.MANAGE_PEOPLE)
def member_role(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    membership = _member(benchmark, pk)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the roles.")
        return redirect("people-list", benchmark.slug)
    changed = people.change_role(membership=membership, actor=request.user, **form.cleaned_data)
    messages.success(request, f"{membership.user} is now {changed.get_role_display()}.")
    return _back(request, benchmark)


@require_POST
@benchmark_view(Action.MANAGE_PEOPLE)
def member_blindness(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    is_lifted = request.POST.get("is_lifted") == "true"
    changed = people.change_blindness(
        membership=_member(benchmark, pk), is_lifted=is_lifted, actor=request.user
    )
    message = "sees results now" if is_lifted else "sees no results while a pool is open"
    messages.success(request, f"{changed.user} {message}.")
    return redirect("people-list", benchmark.slug)


@require_POST
@benchmark_view(Action.MANAGE_PEOPLE)
def member_remove(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    membership = _member(benchmark, pk)
    people.remove_member(membership=membership, actor=request.user)
    messages.success(request, f"{membership.user} is no longer a member; their work stays.")
    return _back(request, benchmark)


def _member(benchmark: Benchmark, pk: int) -> Membership:
    return get_object_or_404(benchmark.memberships.select_related("user"), pk=pk)


def _back(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """To the people page, or home for an owner who has just given up that page."""
    still = benchmark.memberships.filter(user=request.user, role=Role.OWNER).exists()
    return redirect("people-list", benchmark.slug) if still else redirect("home")


# --- the link ------------------------------------------------------------------------------


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation_accept(request: HttpRequest, secret: str) -> HttpResponse:
    """The page behind an invitation's link; the secret in the address is what gives access."""
    invitations = Invitation.objects.of_secret(secret).select_related("benchmark", "created_by")
    invitation = get_object_or_404(invitations)
    if not Invitation.objects.open().filter(pk=invitation.pk).exists():
        return _closed_page(request, people.why_closed(invitation))
    try:
        if request.user.is_authenticated:
            return _join(cast(PersonRequest, request), invitation)
        return _join_with_new_account(request, invitation)
    except InvitationClosedError as error:  # somebody else was quicker
        return _closed_page(request, error)


def _join(request: PersonRequest, invitation: Invitation) -> HttpResponse:
    benchmark = invitation.benchmark
    if request.method == "POST":
        membership = people.accept_invitation(invitation=invitation, user=request.user)
        return _welcome(request, membership)
    earlier = benchmark.memberships.filter(user=request.user).first()
    keeps = earlier and not people.is_higher(Role(invitation.role), than=Role(earlier.role))
    context = {
        "known": earlier,
        "keeps": keeps,
        "anothers": not invitation.is_for(request.user.email),
        "unverified": invitation.email and not request.user.has_verified_email,
    }
    return _link_page(request, invitation, context)


def _join_with_new_account(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    if not settings.SIGN_IN_BY_PASSWORD:
        if request.method == "POST":
            raise PasswordsOffError
        return _link_page(request, invitation, {})
    form = AccountForm(request.POST or None)
    if form.is_bound and form.is_valid() and not invitation.is_for(form.cleaned_data["email"]):
        form.add_error("email", told(InvitationAddressError()))
    if request.method != "POST" or not form.is_valid():
        return _link_page(request, invitation, {"form": form}, 422 if form.is_bound else 200)
    user = people.accept_with_new_account(
        invitation=invitation,
        username=form.cleaned_data["username"],
        email=form.cleaned_data["email"],
        password=form.cleaned_data["password1"],
    )
    login(request, user, backend=SIGN_IN_BACKEND)
    membership = invitation.benchmark.memberships.filter(user=user).first()
    return _welcome(request, membership) if membership else redirect(request.path)


def _welcome(request: HttpRequest, membership: Membership) -> HttpResponse:
    benchmark, role = membership.benchmark, translated(membership.get_role_display())
    message = _("You are a member of {benchmark}, as {role}.")
    messages.success(request, message.format(benchmark=benchmark, role=role))
    return redirect(benchmark)


def _link_page(
    request: HttpRequest, invitation: Invitation, more: dict[str, Any], status: int = 200
) -> HttpResponse:
    context = {
        "invitation": invitation,
        "joins": invitation.benchmark,
        "does": ROLE_HELP[Role(invitation.role)],
        **more,
    }
    return render(request, "benchmarks_app/people/invitation_accept.html", context, status=status)


def _closed_page(request: HttpRequest, error: InvitationClosedError) -> HttpResponse:
    context = {"message": told(error)}
    return render(
        request, "benchmarks_app/people/invitation_closed.html", context, status=error.status
    )
