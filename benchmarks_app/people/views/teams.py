"""Teams: people who submit together."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.errors import TeamError, TeamLinkError
from benchmarks_app.language import told
from benchmarks_app.models import Team
from benchmarks_app.paging import page_of
from benchmarks_app.people.forms.people import MateForm, TeamForm
from benchmarks_app.people.services import teams
from benchmarks_app.requests import PersonRequest

PAGE_SIZE = 50


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def team_list(request: PersonRequest) -> HttpResponse:
    """One's teams, and making another."""
    form = TeamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            team = teams.make_team(name=form.cleaned_data["name"], user=request.user)
        except TeamError as error:
            form.add_error("name", told(error))
        else:
            message = _("The team “{team}” is made. Invite others.").format(team=team)
            messages.success(request, message)
            return redirect("team-detail", team.pk)
    mine = request.user.teams.order_by("name").prefetch_related("members")
    context = {"form": form, "page": page_of(request, mine, PAGE_SIZE)}
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/people/team_list.html", context, status=status)


@login_required
@require_safe
def team_detail(request: PersonRequest, pk: int) -> HttpResponse:
    return _page(request, _mine(request, pk), MateForm())


@login_required
@require_POST
def team_add(request: PersonRequest, pk: int) -> HttpResponse:
    team, form = _mine(request, pk), MateForm(request.POST)
    if form.is_valid():
        try:
            added = teams.add_mate(team=team, user=request.user, **form.cleaned_data)
        except TeamError as error:
            form.add_error("username", told(error))
        else:
            messages.success(request, _("{person} is in the team.").format(person=added))
            return redirect("team-detail", team.pk)
    return _page(request, team, form, status=422)


@never_cache
@login_required
@require_POST
def team_link(request: PersonRequest, pk: int) -> HttpResponse:
    """The page with a link by which others join."""
    team = _mine(request, pk)
    path = reverse("team-join", args=[teams.team_link_secret(team=team, user=request.user)])
    return _page(request, team, MateForm(), link=request.build_absolute_uri(path))


@login_required
@require_POST
def team_leave(request: PersonRequest, pk: int) -> HttpResponse:
    team = _mine(request, pk)
    teams.leave_team(team=team, user=request.user)
    messages.success(request, _("You have left “{team}”.").format(team=team.name))
    return redirect("team-list")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def team_join(request: PersonRequest, ticket: str) -> HttpResponse:
    """The page behind a link; the ticket in the address is what gives access."""
    try:
        team, maker = teams.team_of_link(ticket)
        if request.method == "POST":
            joined = teams.join_team(secret=ticket, user=request.user)
            messages.success(request, _("You are in the team “{team}”.").format(team=joined))
            return redirect("team-detail", joined.pk)
    except TeamLinkError as error:
        page = "benchmarks_app/people/team_join.html"
        return render(request, page, {"error": told(error)}, status=error.status)
    context = {"team": team, "maker": maker, "n_members": team.members.count()}
    return render(request, "benchmarks_app/people/team_join.html", context)


def _mine(request: PersonRequest, pk: int) -> Team:
    return get_object_or_404(request.user.teams, pk=pk)


def _page(
    request: HttpRequest, team: Team, form: MateForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = {
        "team": team,
        "form": form,
        "members": team.members.order_by("username"),
        "link_days": teams.LINK_DAYS,
        **more,
    }
    return render(request, "benchmarks_app/people/team_detail.html", context, status=status)
