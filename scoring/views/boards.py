"""Leaderboards, each of one release."""

import csv
from collections.abc import Iterable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark, Release
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.selectors.naming import owner_name
from scoring import selectors
from scoring.core.weighting import weighted_name
from scoring.models import Score
from scoring.services import measuring
from scoring.services.weighted_scores import has_weights
from scoring.shown import BOARD, Shown, measure_of, measures_on
from scoring.views.measures import asked_measure
from scoring.views.slices import asked_slice

# What a spreadsheet would run as a formula when it begins a cell.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@require_safe
@benchmark_view(Action.VIEW)
def leaderboard(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The newest release's board, at its own address: a link to it goes on meaning the same."""
    release = selectors.newest_release(benchmark)
    if release is None:
        return render(request, "scoring/leaderboard_empty.html")
    url = reverse("scoring:leaderboard-release", args=[benchmark.slug, release.version])
    asked = request.GET.copy()
    if not asked.get("measure"):
        asked["m"] = measure_of(asked.get("m")).label
    return redirect(f"{url}?{asked.urlencode(safe='@')}")


@require_safe
@benchmark_view(Action.VIEW)
def leaderboard_release(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    release = _release(benchmark, version)
    threshold = selectors.relevance_threshold(release)
    asked = asked_measure(request, threshold)
    sliced = asked_slice(request, release)
    board, n_waiting = _board(request, release, asked.measure, sliced.name)
    means = [row.scores.get(asked.measure.name) for row in board]
    page = page_of(request, board)
    context = {
        "release": release,
        "releases": list(selectors.published_releases(benchmark)),
        "measure": asked.measure,
        "asked": asked,
        "sliced": sliced,
        "threshold": threshold,
        "measures": _known(asked.measure, selectors.added_measures(board, threshold), threshold),
        "columns": _columns(asked.measure, threshold),
        "is_share": all(mean is None or 0 <= mean <= 1 for mean in means),
        "has_intervals": any(row.intervals for row in board),
        "has_standings": any(row.standing for row in board),
        "page": page,
        "weighted": _weighted_of(release, page.object_list, asked.measure, sliced.name),
        "weighted_label": weighted_name(asked.measure.label),
        "n_waiting": n_waiting,
        "n_unscored": selectors.n_runs_without_scores(release),
    }
    status = 422 if asked.error or sliced.error else 200
    return render(request, "scoring/leaderboard.html", context, status=status)


def _weighted_of(
    release: Release, rows: Iterable[selectors.BoardRow], shown: Shown, slice_name: str
) -> dict[int, Score | None]:
    """The weighted mean of each row by one measure; empty where no row has one."""
    found = _weighted(release, rows, [shown], slice_name)
    return {key: scores.get(shown.name) for key, scores in found.items()}


def _weighted(
    release: Release, rows: Iterable[selectors.BoardRow], shown: list[Shown], slice_name: str
) -> dict[int, dict[str, Score]]:
    """The weighted means of rows, by the keys of their score sets; of a slice there are none."""
    if slice_name or not has_weights(release):
        return {}
    return selectors.weighted_scores([row.score_set for row in rows], [one.name for one in shown])


def _board(
    request: HttpRequest, release: Release, measure: Shown, slice_name: str = ""
) -> tuple[list[selectors.BoardRow], int]:
    """The rows, with standings, and how many of them still lack a measure that was added."""
    n_waiting = 0
    if not measure.is_standard and request.user.is_authenticated:
        seen = selectors.score_sets_seen_by(request.user, release)
        n_waiting = measuring.add_measure(release=release, score_sets=seen, name=measure.name)
    if slice_name:
        n_waiting = _add_slice(request, release, measure, slice_name)
    rows = selectors.leaderboard(
        release=release, user=request.user, measure=measure, slice_name=slice_name
    )
    ranked = measuring.with_standings(
        release=release, rows=rows, name=measure.name, slice_name=slice_name
    )
    return ranked, n_waiting


def _add_slice(request: HttpRequest, release: Release, measure: Shown, slice_name: str) -> int:
    """Compute what scoring has not stored: a measure that was added, a run scored long ago."""
    threshold = selectors.relevance_threshold(release)
    names = [shown.name for shown in _columns(measure, threshold)]
    if not request.user.is_authenticated:
        names = [name for name in names if measure.is_standard or name != measure.name]
    seen = selectors.score_sets_seen_by(request.user, release)
    return measuring.add_slice_scores(
        release=release, score_sets=seen, slice_name=slice_name, names=names
    )


def _columns(measure: Shown, threshold: int) -> tuple[Shown, ...]:
    """The columns of scores; a measure that is none of them goes first, where telephones see it."""
    standard = tuple(shown.on(threshold) for shown in BOARD)
    return standard if measure in standard else (measure, *standard)


def _known(measure: Shown, added: list[Shown], threshold: int) -> list[Shown]:
    """What can be chosen: the standard measures, those added, and the one that is shown."""
    return list(dict.fromkeys([*measures_on(threshold), *added, measure]))


def _release(benchmark: Benchmark, version: str) -> Release:
    release = selectors.release_of_version(benchmark, version)
    if release is None:
        raise Http404
    return release


@require_safe
@benchmark_view(Action.VIEW)
def leaderboard_csv(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    release = _release(benchmark, version)
    threshold = selectors.relevance_threshold(release)
    measure = asked_measure(request, threshold).measure
    sliced = asked_slice(request, release)
    if sliced.error:
        raise Http404
    board, _ = _board(request, release, measure, sliced.name)
    shown = list(dict.fromkeys([*measures_on(threshold), measure]))
    part = f"-{slugify(sliced.name) or 'slice'}" if sliced.name else ""
    name = f"{benchmark.slug}-{release.version}{part}-leaderboard.csv"
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    writer = csv.writer(response)
    labels = [
        name for one in shown for name in (one.label, f"{one.label} low", f"{one.label} high")
    ]
    weighted = _weighted(release, board, shown, sliced.name)
    if weighted:
        named = [weighted_name(one.label) for one in shown]
        labels += [name for one in named for name in (one, f"{one} low", f"{one} high")]
    before = ["rank", "best_rank", "worst_rank", "tie_group", "run", "by", "kind"]
    writer.writerow([*before, *labels, "n_queries", "n_missing", "n_extra", "sha256"])
    writer.writerows(
        _csv_row(row, owner_name(row.run, request.user), shown, weighted) for row in board
    )
    return response


def _csv_row(
    row: selectors.BoardRow, by: str, shown: list[Shown], weighted: dict[int, dict[str, Score]]
) -> list[Any]:
    score_set = row.score_set
    numbers = [
        number
        for one in shown
        for number in (row.scores.get(one.name), *row.intervals.get(one.name, (None, None)))
    ]
    if weighted:
        of = weighted.get(score_set.pk, {})
        numbers += [number for one in shown for number in _mean_and_ends(of.get(one.name))]
    return [
        row.rank,
        *(row.standing or ("", "", "")),
        _harmless(row.run.name),
        _harmless(by),
        row.run.kind,
        *("" if number is None else repr(number) for number in numbers),
        score_set.n_queries,
        score_set.n_missing,
        score_set.n_extra,
        row.run.sha256,
    ]


def _mean_and_ends(score: Score | None) -> tuple[float | None, ...]:
    return (score.mean, score.ci_low, score.ci_high) if score else (None, None, None)


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
