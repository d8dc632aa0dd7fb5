"""How far scoring on a release is, and how its runs moved since an earlier one."""

import csv
from time import monotonic
from typing import Any, cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks_app.models import Benchmark, Release
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest, SiteRequest
from benchwright.evaluation.moves import ADDED
from benchwright.files.cells import safe_cell
from benchwright.texts.markdown import table_line
from scoring.rescoring.selectors import (
    SMALLEST_CAUSE,
    Move,
    earlier_releases,
    is_explained,
    release_before,
)
from scoring.rescoring.services.moving import HEAD, PARTS_SHOWN, moves_asked
from scoring.rescoring.services.rescoring import start_scoring_runs, stop_scoring_runs
from scoring.scores.selectors.releases import relevance_threshold
from scoring.scores.selectors.rescoring import rescoring_of
from scoring.scores.shown import measures_on
from scoring.scores.views import asked_measure, asked_slice, release_or_404

PAGE_SECONDS, FILE_SECONDS = 4.0, 20.0
TYPES = {"csv": "text/csv; charset=utf-8", "md": "text/markdown; charset=utf-8"}


# --- how far it is -------------------------------------------------------------------------


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SEE_RESULTS)
def rescoring(request: SiteRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    """How many runs are scored on a release, and which could not be; posting starts or stops."""
    release = release_or_404(benchmark, version)
    may_edit = may(request.user, Action.EDIT, benchmark)
    if request.method == "POST":
        if not may_edit:
            raise PermissionDenied
        return _started_or_stopped(cast(PersonRequest, request), release)  # visitors may not edit
    state = rescoring_of(release, request.user)
    context = {"release": release, "rescoring": state, "may_edit": may_edit}
    template = (
        "scoring/rescoring/_rescoring.html" if request.htmx else "scoring/rescoring/rescoring.html"
    )
    return render(request, template, context)


def _started_or_stopped(request: PersonRequest, release: Release) -> HttpResponse:
    if request.POST.get("do") == "stop":
        n = stop_scoring_runs(release=release, user=request.user)
        messages.success(request, f"{n} job{'' if n == 1 else 's'} stopped; what is scored stays.")
    else:
        start_scoring_runs(release=release, user=request.user)
        messages.success(request, f"The runs are being scored on {release.version}.")
    return redirect("scoring:rescoring", release.benchmark.slug, release.version)


# --- moves ---------------------------------------------------------------------------------


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def moves(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    """Rank and mean of each run before and after, and what the difference is made of."""
    release = release_or_404(benchmark, version)
    earlier = earlier_releases(release)
    if not earlier:
        return render(request, "scoring/rescoring/moves_empty.html", {"release": release})
    before = _before(request, release)
    choice, sliced = _asked(request, release)
    report = moves_asked(
        before=before, after=release, user=request.user, measure=choice.measure, sliced=sliced.name
    )
    page = page_of(request, report.moves.rows)
    rows = report.explained(page.object_list, _time_until(PAGE_SECONDS))
    shown_measures = measures_on(relevance_threshold(release))
    context = {
        "release": release,
        "before": before,
        "earlier": earlier,
        "asked": choice,
        "sliced": sliced,
        "measure": choice.measure,
        "measures": list(dict.fromkeys([*shown_measures, choice.measure])),
        "found": report,
        "page": page,
        "rows": rows,
        "n_waiting": sum(not is_explained(row) for row in rows),
        "parts": _parts_of(rows),
    }
    status = 422 if choice.error or sliced.error or report.error else 200
    return render(request, "scoring/rescoring/moves.html", context, status=status)


def _parts_of(rows: list[Move]) -> list[tuple[str, str]]:
    """The columns of what differences are made of: those of which a row has any, or the first."""
    explained = [row.explained for row in rows if row.explained]
    parts = [
        (key, name)
        for key, name in PARTS_SHOWN
        if any(
            max(abs(part.parts[key]), abs(part.elsewhere) * (key == ADDED)) >= SMALLEST_CAUSE
            for part in explained
        )
    ]
    return parts or [PARTS_SHOWN[0]]


def _before(request: HttpRequest, release: Release) -> Release:
    previous = release_before(release, request.GET.get("from", "").strip())
    if previous is None:
        raise Http404
    return previous


def _asked(request: HttpRequest, release: Release) -> Any:
    measure = asked_measure(request, release)
    return measure, asked_slice(request, release)


def _time_until(seconds: float) -> Any:
    deadline = monotonic() + seconds
    return lambda: monotonic() < deadline


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def moves_file(
    request: HttpRequest, benchmark: Benchmark, version: str, format: str
) -> HttpResponse:
    """The same as a table for a spreadsheet, or as text for a changelog."""
    release = release_or_404(benchmark, version)
    choice, sliced = _asked(request, release)
    if format not in TYPES or sliced.error:
        raise Http404
    response = HttpResponse(content_type=TYPES[format])
    if not earlier_releases(release):
        name = f"{benchmark.slug}-to-{release.version}.{format}"
        _write(response, f"# {release.version} is the first release\n", [], format)
    else:
        before = _before(request, release)
        report = moves_asked(
            before=before,
            after=release,
            user=request.user,
            measure=choice.measure,
            sliced=sliced.name,
        )
        rows = report.explained(report.moves.rows, _time_until(FILE_SECONDS))
        part = f"-{slugify(sliced.name) or 'slice'}" if sliced.name else ""
        name = f"{benchmark.slug}-{before.version}-to-{release.version}{part}.{format}"
        lines = [report.line(row) for row in rows]
        _write(response, f"{report.title}\n\n{report.said}\n", lines, format)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _write(response: HttpResponse, title: str, lines: list[list[Any]], format: str) -> None:
    if format == "csv":
        writer = csv.writer(response)
        writer.writerow(HEAD)
        writer.writerows([safe_cell(cell) for cell in line] for line in lines)
        return
    response.write(f"{title}\n")
    for line in [HEAD, ["---"] * len(HEAD), *lines]:
        response.write(table_line(map(_cell, line)) + "\n")


def _cell(cell: Any) -> str:
    text = f"{cell:.4f}" if isinstance(cell, float) else str(cell)
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
