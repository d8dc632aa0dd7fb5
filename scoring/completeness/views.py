"""Unjudged documents worth judging: of one run, of runs against each other; lists of them."""

from typing import Any, cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from benchmarks_app.models import Benchmark, Release, Run
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchwright.errors import ScoringError
from benchwright.texts.counting import counted
from scoring.completeness.forms import TopUpForm
from scoring.completeness.selectors import worth_rows
from scoring.completeness.services.answers import Completeness
from scoring.completeness.services.completeness import (
    MEASURE,
    MOST_RUNS,
    completeness_of,
    lists_made,
    make_top_up,
    pair_rows,
)
from scoring.scores.selectors.rankings import runs_named, runs_offered
from scoring.scores.selectors.releases import published_releases
from scoring.scores.services.firewall import sight_of, sight_written_down
from scoring.scores.views import release_of

PAGE_SIZE = 25
MOST_OFFERED = 100


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SEE_RESULTS)
def run_top_up(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """What of one run is worth judging; a post makes the list."""
    visible = Run.objects.visible_to(request.user).select_related("owner")
    run = get_object_or_404(visible, benchmark=benchmark, pk=pk)
    return _top_up(request, benchmark, [run])


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SEE_RESULTS)
def top_up_new(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """What tells the runs of `?runs=` apart; without any, they can be chosen."""
    runs = runs_named(benchmark, request.user, request.GET.getlist("runs"))
    if len(runs) > MOST_RUNS:
        release = release_of(benchmark, request.GET.get("release", ""))
        error = f"{len(runs)} runs are chosen; at most {MOST_RUNS} are gone through at once."
        context = _choice(request, benchmark, release) | {"chosen": runs, "error": error}
        page = "scoring/completeness/top_up_choose.html"
        return render(request, page, context, status=422)
    return _top_up(request, benchmark, runs)


def _top_up(request: HttpRequest, benchmark: Benchmark, runs: list[Run]) -> HttpResponse:
    if request.method == "POST" and not may(request.user, Action.EDIT, benchmark):
        raise PermissionDenied
    release = release_of(benchmark, request.GET.get("release", ""))
    if release is None or not runs:
        return render(
            request, "scoring/completeness/top_up_choose.html", _choice(request, benchmark, release)
        )
    measure, error = request.GET.get("measure", "") or MEASURE, ""
    is_public = not sight_of(request.user, release).is_clear
    try:
        completeness = completeness_of(
            release=release, runs=runs, measure=measure, is_public=is_public
        )
    except ScoringError as wrong:
        measure, error = MEASURE, str(wrong)
        completeness = completeness_of(release=release, runs=runs, is_public=is_public)
    form = TopUpForm(
        request.POST or None, n=completeness.n_worth or None, most=len(completeness.worth)
    )
    if request.method == "POST" and form.is_valid():
        person = cast(PersonRequest, request)  # visitors may not edit
        return _made(person, release, runs, measure, form.cleaned_data["n"])
    context = _shown(request, release, runs, completeness)
    context |= {"form": form, "measure": measure, "error": error}
    status = 422 if error or form.errors else 200
    return render(request, "scoring/completeness/top_up_new.html", context, status=status)


def _choice(request: HttpRequest, benchmark: Benchmark, release: Release | None) -> dict[str, Any]:
    return {
        "release": release,
        "offered": list(runs_offered(benchmark, request.user)[:MOST_OFFERED]),
        "most": MOST_RUNS,
    }


def _made(
    request: PersonRequest, release: Release, runs: list[Run], measure: str, n: int
) -> HttpResponse:
    """Keep the list, and go where a pool is made of it."""
    candidates = make_top_up(
        release=release, runs=runs, user=request.user, measure=measure, limit=n
    )
    n_listed = counted(candidates.n_documents, "document")
    verb = "is" if candidates.n_documents == 1 else "are"
    messages.success(request, f"{n_listed} {verb} listed; make a pool of them.")
    pool_new = reverse("annotation:pool-new", args=[release.benchmark.slug])
    return redirect(f"{pool_new}?list={candidates.pk}")


def _shown(
    request: HttpRequest, release: Release, runs: list[Run], completeness: Completeness
) -> dict[str, Any]:
    names = " and ".join(run.name for run in runs)
    sight = sight_written_down(request.user, release, f"unjudged documents of {names}")
    listed = [entry for entry in completeness.worth if entry.qid not in sight.hidden]
    page = page_of(request, listed, PAGE_SIZE)
    return {
        "release": release,
        "runs": runs,
        "found": completeness,
        "judged": [(run, completeness.judged[run.pk]) for run in runs],
        "pairs": pair_rows(completeness, runs),
        "raw": completeness.raw,
        "all_relevant": completeness.all_relevant,
        "page": page,
        "rows": worth_rows(release, list(page.object_list)),
        "is_withheld": not sight.is_clear,
        "lists": lists_made(release, runs) if sight.is_clear else [],
        "releases": list(published_releases(release.benchmark)),
    }
