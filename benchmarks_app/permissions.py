"""What each role may do. One table; views, templates and the access tests read it."""

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponseBase

from benchmarks_app.errors import BlindError
from benchmarks_app.models import Benchmark, Membership, Role
from benchmarks_app.prepared import prepared
from benchmarks_app.requests import SiteRequest

EVERYONE = frozenset(Role)
KEEPERS = frozenset({Role.OWNER, Role.MAINTAINER})
NOBODY = 0  # no account has this key


class Action(StrEnum):
    VIEW = "view"  # overview, guideline, queries, documents
    SEE_RESULTS = "see_results"  # runs, scores, boards, and the files of releases
    JUDGE = "judge"  # the labeling page
    SUBMIT = "submit"  # a run, to a phase
    SEE_POOLS = "see_pools"  # pool pages: which run brought what
    ADJUDICATE = "adjudicate"  # agreement, and settling what people disagree about
    EDIT = "edit"  # import, pools, qrels, releases, settings
    MANAGE_PEOPLE = "manage_people"  # invitations, roles


ALLOWED: dict[Action, frozenset[Role]] = {
    Action.VIEW: EVERYONE,
    Action.SEE_RESULTS: EVERYONE,  # less who may still be asked to judge: `is_blind`
    Action.JUDGE: KEEPERS | {Role.ADJUDICATOR, Role.ANNOTATOR},
    Action.SUBMIT: KEEPERS | {Role.SUBMITTER},
    Action.SEE_POOLS: KEEPERS | {Role.ADJUDICATOR},
    Action.ADJUDICATE: KEEPERS | {Role.ADJUDICATOR},
    Action.EDIT: KEEPERS,
    Action.MANAGE_PEOPLE: frozenset({Role.OWNER}),
}

OF_PUBLIC = frozenset({Action.VIEW, Action.SEE_RESULTS})  # what anybody may in a public benchmark


def role_in(user: Any, benchmark: Benchmark) -> Role | None:
    """The user's role, or None for somebody who is not a member; asked once per request."""
    if not user.is_authenticated:
        return None
    known_roles = _known_roles(user)
    if benchmark.pk not in known_roles:
        roles = _roles(benchmark.pk, user.pk)
        known_roles[benchmark.pk] = Role(roles[0]) if roles else None
    return known_roles[benchmark.pk]


def _known_roles(user: Any) -> dict[int, Role | None]:
    roles: dict[int, Role | None] = user.__dict__.setdefault("_roles", {})
    return roles


@prepared
def _roles(benchmark: int, user: int) -> QuerySet:
    members = Membership.objects.filter(benchmark=benchmark, user=user)
    return members.values_list("role", flat=True)


def benchmark_named(slug: str, user: Any) -> Benchmark | None:
    """A benchmark, whoever may see it; the user's role in it comes along, in one query."""
    for benchmark in _benchmarks(slug, user.pk or NOBODY):
        role = benchmark.readers_role
        _known_roles(user)[benchmark.pk] = Role(role) if role else None
        return benchmark
    return None


@prepared
def _benchmarks(slug: str, user: int) -> QuerySet[Benchmark]:
    role = Membership.objects.filter(benchmark=OuterRef("pk"), user=user).values("role")
    named = Benchmark.objects.filter(slug=slug).select_related("corpus")
    return named.annotate(readers_role=Subquery(role))


def is_blind(user: Any, benchmark: Benchmark) -> bool:
    """Whether results are withheld, as the user may still be asked to judge; asked once."""
    if role_in(user, benchmark) not in ALLOWED[Action.JUDGE] - ALLOWED[Action.SEE_POOLS]:
        return False
    known_blindness = user.__dict__.setdefault("_blind", {})
    if benchmark.pk not in known_blindness:
        known_blindness[benchmark.pk] = (
            user.memberships.blind().filter(benchmark=benchmark).exists()
        )
    return known_blindness[benchmark.pk]


def may(user: Any, action: Action, benchmark: Benchmark) -> bool:
    role = role_in(user, benchmark)
    if role is None:
        is_public = benchmark.visibility == Benchmark.Visibility.PUBLIC
        return is_public and action in OF_PUBLIC
    return role in ALLOWED[action] and not (
        action == Action.SEE_RESULTS and is_blind(user, benchmark)
    )


def refusal(user: Any, action: Action, benchmark: Benchmark) -> Exception:
    """What is raised where `may` says no to somebody who sees the benchmark."""
    if action == Action.SEE_RESULTS and is_blind(user, benchmark):
        return BlindError()
    return PermissionDenied()


def benchmark_view(action: Action) -> Callable[[Callable], Callable]:
    """The view gets the benchmark of the URL's `slug`, if its user may do `action` there.

    Who is not signed in is sent to the sign-in page, who may not see the benchmark gets 404 (its
    existence is not told), who lacks the role gets 403.
    """

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def checked(request: SiteRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
            user, benchmark = request.user, benchmark_named(slug, request.user)
            if benchmark is not None and not may(user, Action.VIEW, benchmark):
                benchmark = None
            is_allowed = benchmark is not None and may(user, action, benchmark)
            if not is_allowed and not user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            if benchmark is None:
                raise Http404
            if not is_allowed:
                raise refusal(user, action, benchmark)
            request.benchmark = benchmark
            return view(request, benchmark, *args, **kwargs)

        return checked

    return decorate


def is_site_manager(user: Any) -> bool:
    """Whether somebody looks after the site as a whole: its state, its people, its audit log."""
    return bool(user.is_active and user.is_staff)


def site_view(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A view for managers of the site alone: others get 403, who is not signed in the sign-in."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if not is_site_manager(request.user):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return checked


def require(user: Any, action: Action, benchmark: Benchmark) -> None:
    """For views that find their benchmark by another way than its slug."""
    if not Benchmark.objects.visible_to(user).filter(pk=benchmark.pk).exists():
        raise Http404
    if not may(user, action, benchmark):
        raise refusal(user, action, benchmark)
