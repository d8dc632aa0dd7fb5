"""How a release treats systems outside its pools: a panel, a page around it, a chart."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks_app.charts import chart_response
from benchmarks_app.models import Benchmark, Release
from benchmarks_app.permissions import Action, benchmark_view
from scoring import selectors
from scoring.planning_charts import reusability_chart as chart_of
from scoring.services.firewall import sight_of
from scoring.services.reusability import (
    ASSUMED_DEPTH,
    Report,
    ShownSystem,
    copies_shown,
    reusability_of,
    summary_of,
    systems_shown,
)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def reusability(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The report on `?release=`, the newest unless named; a page of its own without htmx."""
    version = request.GET.get("release", "")
    release = (
        selectors.release_of_version(benchmark, version)
        if version
        else selectors.newest_release(benchmark)
    )
    if version and release is None:
        raise Http404
    context: dict[str, Any] = {"release": release, "report": None, "depth": ASSUMED_DEPTH}
    if release is not None:
        context |= _shown(request, release, reusability_of(release))
    template = "scoring/_reusability.html" if request.htmx else "scoring/reusability.html"
    return render(request, template, context)


def _shown(request: HttpRequest, release: Release, report: Report | None) -> dict[str, Any]:
    if report is None:
        return {}
    sight = sight_of(request.user, release)
    systems = systems_shown(report, user=request.user, sight=sight)
    return {
        "report": report,
        "by_group": summary_of(report.found.by_group, sight),
        "by_run": summary_of(report.found.by_run, sight),
        "n_systems": report.found.n_systems,
        "n_pooled": len(report.runs),
        "systems": systems,
        "has_groups": any(one.n_companions for one in systems),
        "copies": copies_shown(report, user=request.user),
        "n_more": len(report.runs) - len(systems),
        "has_counts": sight.is_clear,
    }


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def reusability_chart(
    request: HttpRequest, benchmark: Benchmark, version: str, format: str
) -> HttpResponse:
    release = selectors.release_of_version(benchmark, version)
    report = reusability_of(release) if release else None
    if release is None or report is None:
        raise Http404
    sight = sight_of(request.user, release)
    systems: list[ShownSystem] = systems_shown(report, user=request.user, sight=sight)
    return chart_response(request, chart_of(systems), format)
