"""What queries can show: plans, reliability, stale labels, reusability; panels, pages, files."""

import csv
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from benchmarks_app.charts import chart_response
from benchmarks_app.models import Benchmark, Slice
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from benchmarks_app.result_facts import reach_of
from benchmarks_app.slices.services.records import members_of
from benchwright.files.cells import safe_cell
from benchwright.qrels.freshness import Label, State
from benchwright.statistics.reliability import ASSUMED_SOURCE
from scoring.planning.charts import cost_chart
from scoring.planning.charts import reusability_chart as chart_of
from scoring.planning.forms import PlannerForm, asked_days, read_wish, wish_text
from scoring.planning.services.freshness import ReleaseFreshness, freshness_of_release
from scoring.planning.services.planning import known_of, planned
from scoring.planning.services.reliability import reliability_of
from scoring.planning.services.reusability import (
    ASSUMED_DEPTH,
    Report,
    ShownSystem,
    copies_shown,
    reusability_of,
    summary_of,
    systems_shown,
)
from scoring.scores.charts import reach_chart
from scoring.scores.selectors.releases import newest_release, published_releases, release_of_version
from scoring.scores.services.firewall import Sight, sight_of, sight_written_down
from scoring.scores.services.slice_scores import graded_queries
from scoring.scores.views import release_of, release_or_404


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def planner(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    """The form with its answer; the answer alone for htmx."""
    known = known_of(benchmark, request.user)
    form = PlannerForm(
        request.GET.dict(), seconds=known.seconds, has_runs=not known.growth.is_assumed
    )
    wish = form.wish()
    if known.growth.is_assumed:
        known = known_of(benchmark, request.user, systems=wish.systems)
    context = {
        "form": form,
        "wish": wish,
        "wish_text": wish_text(wish),
        "found": planned(benchmark, known, wish),
        "known": known,
        "assumed_source": ASSUMED_SOURCE,
    }
    template = (
        "scoring/planning/_planner_answer.html" if request.htmx else "scoring/planning/planner.html"
    )
    return render(request, template, context, status=422 if form.errors else 200)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def planner_chart(
    request: HttpRequest, benchmark: Benchmark, wish: str, format: str
) -> HttpResponse:
    chosen = read_wish(wish)
    if chosen is None:
        raise Http404
    known = known_of(benchmark, request.user, systems=chosen.systems)
    return chart_response(request, cost_chart(planned(benchmark, known, chosen), chosen), format)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def reliability(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    """The panel: of all queries, or of what a release (`?release=`) grades; a page without htmx."""
    version = request.GET.get("release", "")
    release = release_of_version(benchmark, version) if version else None
    if version and release is None:
        raise Http404
    context = {
        "found": reliability_of(benchmark, release),
        "release": release,
        "assumed_source": ASSUMED_SOURCE,
    }
    template = (
        "scoring/planning/_reliability.html"
        if request.htmx
        else "scoring/planning/reliability.html"
    )
    return render(request, template, context)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def slice_reach_chart(
    request: HttpRequest, benchmark: Benchmark, slice_name: str, format: str
) -> HttpResponse:
    """The smallest visible difference by the number of queries, with a slice on the curve."""
    part = get_object_or_404(Slice, benchmark=benchmark, name=slice_name)
    qids = members_of(part)
    if not qids:
        raise Http404
    reach = reach_of(benchmark, {part.name: qids})[part.name]
    return chart_response(request, reach_chart(part.name, reach), format)


PAGE_SIZE = 50
WORDS = {
    State.GONE: "the corpus lacks it",
    State.CHANGED: "says something else now",
    State.OLD: "labelled long ago",
}


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def freshness(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    """The panel of `?release=` (the newest unless named), or the page around it without htmx."""
    release = release_of(benchmark, request.GET.get("release", ""))
    if release is None:
        return render(request, "scoring/planning/freshness_empty.html")
    sight = sight_of(request.user, release)
    days = asked_days(request.GET.get("days", ""))
    labels = freshness_of_release(release, days=days, hidden=sight.hidden)
    context = {"release": release, "found": labels, **shown(labels, sight)}
    if request.htmx:
        return render(request, "scoring/planning/_freshness.html", context)
    sight_written_down(request.user, release, "stale labels")
    context |= {
        "page": page_of(request, _stale(labels), PAGE_SIZE),
        "releases": list(published_releases(benchmark)),
    }
    return render(request, "scoring/planning/freshness.html", context)


def shown(freshness: ReleaseFreshness, sight: Sight) -> dict[str, Any]:
    """Labels overall and by slice, and of how many queries they are left out."""
    report = freshness.report
    return {
        "overall": report.overall,
        "slices": [(name, counts) for name, counts in report.slices.items() if counts.n],
        "n_left_out": len(sight.hidden),
        "reasons": [(WORDS[state], report.overall.counts.get(state, 0)) for state in WORDS],
    }


def _stale(release_freshness: ReleaseFreshness) -> list[tuple[Label, str]]:
    return [(label, WORDS[state]) for label, state in release_freshness.report.stale]


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def freshness_csv(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    """Query, document, why and since when."""
    release = release_or_404(benchmark, version)
    sight = sight_written_down(request.user, release, "stale labels")
    days = asked_days(request.GET.get("days", ""))
    labels = freshness_of_release(release, days=days, hidden=sight.hidden)
    name = f"{benchmark.slug}-{release.version}-stale-labels.csv"
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    writer = csv.writer(response)
    writer.writerow(["query", "document", "why", "labelled_at"])
    for label, why in _stale(labels):
        at = label.labelled_at.isoformat() if label.labelled_at else ""
        writer.writerow([safe_cell(label.qid), safe_cell(label.docid), why, at])
    return response


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
            **_shown(request, reusability_of(release, user=request.user, hidden=hidden)),
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
        "by_group": summary_of(report.treatment.by_group),
        "by_run": summary_of(report.treatment.by_run),
        "n_systems": report.treatment.n_systems,
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
    report = reusability_of(
        release, user=request.user, hidden=sight_of(request.user, release).hidden
    )
    if report is None:
        raise Http404
    systems: list[ShownSystem] = systems_shown(report, user=request.user)
    return chart_response(request, chart_of(systems), format)
