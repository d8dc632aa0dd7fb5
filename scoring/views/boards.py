"""Leaderboards, each of one release."""

import csv
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark, Release
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from scoring import selectors

# What a spreadsheet would run as a formula when it begins a cell.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@require_safe
@benchmark_view(Action.VIEW)
def leaderboard(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The newest release's board, at its own address: a link to it goes on meaning the same."""
    release = selectors.newest_release(benchmark)
    if release is None:
        return render(request, "scoring/leaderboard_empty.html")
    measure = selectors.measure_of(request.GET.get("m"))
    url = reverse("scoring:leaderboard-release", args=[benchmark.slug, release.version])
    return redirect(f"{url}?m={measure.label}")


@require_safe
@benchmark_view(Action.VIEW)
def leaderboard_release(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    release = _release(benchmark, version)
    measure = selectors.measure_of(request.GET.get("m"))
    board = selectors.leaderboard(release=release, user=request.user, measure=measure)
    context = {
        "release": release,
        "releases": list(selectors.published_releases(benchmark)),
        "measure": measure,
        "threshold": selectors.relevance_threshold(release),
        "measures": selectors.MEASURES,
        "columns": _columns(measure),
        "page": page_of(request, board),
        "n_unscored": selectors.n_runs_without_scores(release),
    }
    return render(request, "scoring/leaderboard.html", context)


def _columns(measure: selectors.Shown) -> tuple[selectors.Shown, ...]:
    return selectors.BOARD if measure in selectors.BOARD else (*selectors.BOARD, measure)


def _release(benchmark: Benchmark, version: str) -> Release:
    release = selectors.release_of_version(benchmark, version)
    if release is None:
        raise Http404
    return release


@require_safe
@benchmark_view(Action.VIEW)
def leaderboard_csv(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    release = _release(benchmark, version)
    measure = selectors.measure_of(request.GET.get("m"))
    board = selectors.leaderboard(release=release, user=request.user, measure=measure)
    name = f"{benchmark.slug}-{release.version}-leaderboard.csv"
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    writer = csv.writer(response)
    labels = [shown.label for shown in selectors.MEASURES]
    writer.writerow(
        ["rank", "run", "by", "kind", *labels, "n_queries", "n_missing", "n_extra", "sha256"]
    )
    writer.writerows(_csv_row(row) for row in board)
    return response


def _csv_row(row: selectors.BoardRow) -> list[Any]:
    score_set = row.score_set
    means = [row.scores.get(shown.name) for shown in selectors.MEASURES]
    return [
        row.rank,
        _harmless(row.run.name),
        _harmless(str(row.run.owner)),
        row.run.kind,
        *("" if mean is None else repr(mean) for mean in means),
        score_set.n_queries,
        score_set.n_missing,
        score_set.n_extra,
        row.run.sha256,
    ]


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
