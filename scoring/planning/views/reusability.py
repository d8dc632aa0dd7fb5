"""How a release treats systems outside its pools: a panel, a page around it, a chart."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks_app.charts import chart_response
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from scoring.planning.charts import reusability_chart as chart_of
from scoring.planning.services.reusability import (
    ASSUMED_DEPTH,
    Report,
    ShownSystem,
    copies_shown,
    reusability_of,
    summary_of,
    systems_shown,
)
from scoring.scores.selectors.releases import newest_release, release_of_version
from scoring.scores.services.firewall import sight_of
from scoring.scores.services.slice_scores import graded_queries


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def reusability(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    """The report on `?release=`, the newest unless named; a page of its own without htmx."""
    version = request.GET.get("release", "")
    release = release_of_version(benchmark, version) if version else newest_release(benchmark)
    if version and release is None:
        raise Http404
    context: dict[str, Any] = {"release": release, "report": None, "depth": ASSUMED_DEPTH}
    if release is not None:
        hidden = sight_of(request.user, release).hidden
        context |= {
            "n_left_out": len(hidden),
            "has_queries": bool(graded_queries(release) - hidden),
            **_shown(request, reusability_of(release, hidden)),
        }
    template = (
        "scoring/planning/_reusability.html"
        if request.htmx
        else "scoring/planning/reusability.html"
    )
    return render(request, template, context)


def _shown(request: HttpRequest, report: Report | None) -> dict[str, Any]:
    if report is None:
        return {}
    systems = systems_shown(report, user=request.user)
    return {
        "report": report,
        "by_group": summary_of(report.found.by_group),
        "by_run": summary_of(report.found.by_run),
        "n_systems": report.found.n_systems,
        "n_pooled": len(report.runs),
        "systems": systems,
        "has_groups": any(system.n_companions for system in systems),
        "copies": copies_shown(report, user=request.user),
        "n_more": len(report.runs) - len(systems),
    }


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def reusability_chart(
    request: HttpRequest, benchmark: Benchmark, version: str, format: str
) -> HttpResponse:
    release = release_of_version(benchmark, version)
    if release is None:
        raise Http404
    report = reusability_of(release, sight_of(request.user, release).hidden)
    if report is None:
        raise Http404
    systems: list[ShownSystem] = systems_shown(report, user=request.user)
    return chart_response(request, chart_of(systems), format)
