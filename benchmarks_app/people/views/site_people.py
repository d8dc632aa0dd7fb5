"""People of the site: what is known of them, and deleting them; one's own account, too."""

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.common.selectors.words import holds
from benchmarks_app.errors import PeopleError
from benchmarks_app.models import User
from benchmarks_app.paging import page_of
from benchmarks_app.people.forms.factors import PasswordAgainForm
from benchmarks_app.people.services import forgetting
from benchmarks_app.people.services.person_export import export_person
from benchmarks_app.permissions import site_view
from benchmarks_app.releases.downloads import zip_response
from benchmarks_app.requests import PersonRequest

PAGE_SIZE = 50


# --- oneself -------------------------------------------------------------------------------


@never_cache
@login_required
@require_POST
def account_export(request: PersonRequest) -> HttpResponseBase:
    return _known(request, request.user)


@never_cache
@sensitive_post_parameters()
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account_delete(request: PersonRequest) -> HttpResponse:
    """Deletes one's own account, for who knows its password."""
    person = User.objects.get(pk=request.user.pk)
    form = PasswordAgainForm(request.POST or None, request=request)
    if request.method == "POST" and form.is_valid():
        try:
            forgotten = forgetting.delete_person(user=person, actor=person)
        except PeopleError as error:
            form.add_error(None, str(error))
        else:
            logout(request)
            return render(
                request, "benchmarks_app/people/account_deleted.html", {"forgotten": forgotten}
            )
    return _deletion_page(request, person, form, "benchmarks_app/people/account_delete.html")


def _deletion_page(
    request: PersonRequest, person: User, form: PasswordAgainForm, template: str
) -> HttpResponse:
    """What goes and what stays, or why the account cannot be deleted now."""
    why_not = ""
    try:
        forgetting.refuse_deletion(user=person, actor=request.user)
    except PeopleError as error:
        why_not = str(error)
    names, me = forgetting.names_of(person), request.user
    context = {
        "person": person,
        "form": form,
        "why_not": why_not,
        "lasting": [] if person.is_anonymised else forgetting.lasting_places(names, seen_by=me),
    }
    status = 422 if form.is_bound else 200
    return render(request, template, context, status=status)


def _known(request: PersonRequest, person: User) -> HttpResponseBase:
    pieces = export_person(user=person, actor=request.user)
    return zip_response(pieces, f"known-of-{person.username}")


# --- others, by who manages the site -------------------------------------------------------


@require_safe
@site_view
def person_list(request: PersonRequest) -> HttpResponse:
    """Every account, those that were deleted under their pseudonym."""
    people = User.objects.order_by("username")
    words = request.GET.get("q", "").strip()
    if words:
        named = Q()
        for field in ("username", "email", "first_name", "last_name"):
            named |= holds(field, words)
        people = people.filter(named)
    context = {"page": page_of(request, people, PAGE_SIZE), "wanted": words}
    return render(request, "benchmarks_app/people/person_list.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@site_view
def person_delete(request: PersonRequest, pk: int) -> HttpResponse:
    person = get_object_or_404(User, pk=pk, is_anonymised=False)
    form = PasswordAgainForm(request.POST or None, request=request)
    if request.method == "POST" and form.is_valid():
        try:
            forgotten = forgetting.delete_person(user=person, actor=request.user)
        except PeopleError as error:
            form.add_error(None, str(error))
        else:
            if person == request.user:
                logout(request)
                context = {"forgotten": forgotten}
                return render(request, "benchmarks_app/people/account_deleted.html", context)
            message = f"Deleted. {forgotten.pseudonym} holds the work that stays."
            messages.success(request, message)
            return redirect("person-list")
    return _deletion_page(request, person, form, "benchmarks_app/people/person_delete.html")


@never_cache
@require_POST
@site_view
def person_export(request: PersonRequest, pk: int) -> HttpResponseBase:
    return _known(request, get_object_or_404(User, pk=pk))
