"""How many labels of a release are stale: a panel that other pages ask for, a page, a file."""

import csv
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from benchwright.files.cells import safe_cell
from benchwright.qrels.freshness import Label, State
from scoring.planning.forms import asked_days
from scoring.planning.services.freshness import ReleaseFreshness, freshness_of_release
from scoring.scores.selectors.releases import published_releases
from scoring.scores.services.firewall import Sight, sight_of, sight_written_down
from scoring.scores.views import release_of, release_or_404

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


def shown(found: ReleaseFreshness, sight: Sight) -> dict[str, Any]:
    """Labels overall and by slice, and of how many queries they are left out."""
    report = found.report
    return {
        "overall": report.overall,
        "slices": [(name, one) for name, one in report.slices.items() if one.n],
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
