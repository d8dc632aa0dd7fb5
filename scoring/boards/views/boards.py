"""Leaderboards, each of one release."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark, Release
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from benchwright.evaluation.uncertainty import TIE_GROUPS
from benchwright.evaluation.weighting import weighted_name
from benchwright.formats.numbers import row_key
from scoring.boards.forms.boards import BoardFilterForm
from scoring.boards.services.boards import (
    Board,
    board_of,
    may_show_scenarios,
    weighted_of,
    with_scenarios,
)
from scoring.rescoring.services.moving import moves_for_board
from scoring.rescoring.services.rescoring import mark_looked_at
from scoring.scores.selectors.attempts import unranked_on
from scoring.scores.selectors.filters import filter_choices
from scoring.scores.selectors.releases import newest_release, published_releases
from scoring.scores.selectors.score_sets import n_runs_without_scores
from scoring.scores.services.held import rows_of_sources
from scoring.scores.services.ranking import start_ranking
from scoring.scores.services.slice_scores import ALL_SPLITS, BoardSplit, board_split
from scoring.scores.shown import measure_of
from scoring.scores.views import Asked, AskedSlice, asked_measure, asked_slice, release_or_404

SCENARIOS = "scenarios"


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def leaderboard(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The newest release's board, at its own address: a link to it goes on meaning the same."""
    release = newest_release(benchmark)
    if release is None:
        return render(request, "scoring/boards/leaderboard_empty.html")
    url = reverse("scoring:leaderboard-release", args=[benchmark.slug, release.version])
    params = request.GET.copy()
    if not params.get("measure"):
        params["m"] = measure_of(params.get("m")).label
    return redirect(f"{url}?{params.urlencode(safe='@')}")


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def leaderboard_release(request: SiteRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    release = release_or_404(benchmark, version)
    choice, sliced, form, board = asked_board(request, release)
    form.offer(filter_choices(board.whole))
    page = page_of(request, board.rows)
    if request.user.is_authenticated:
        mark_looked_at(row.score_set for row in page.object_list)
    n_without_scenarios = 0
    if shows_scenarios(request):
        page.object_list, n_without_scenarios = with_scenarios(board, list(page.object_list))
    weighted = weighted_of(board, page.object_list, [board.measure])
    context = {
        **board_context(request, board, choice, sliced),
        "form": form,
        "page": page,
        "weighted": {key: scores.get(board.measure.name) for key, scores in weighted.items()},
        "weighted_label": weighted_name(board.measure.label),
        "unranked": unranked_on(release, request.user),
        "n_without_scenarios": n_without_scenarios,
        "n_unscored": n_runs_without_scores(release),
        "is_ranking": _is_ranking(request, board),
        "moves": moves_for_board(
            release, user=request.user, measure=board.measure, slice_name=board.slice_name
        ),
    }
    is_wrong = bool(board.split and board.split.error)
    status = 422 if choice.error or sliced.error or form.errors or is_wrong else 200
    return render(request, "scoring/boards/leaderboard.html", context, status=status)


def _is_ranking(request: HttpRequest, board: Board) -> bool:
    """Whether ranks are still being worked out; who is signed in has that done for everybody."""
    if board.has_ranks or not board.rows:
        return False
    if request.user.is_authenticated and board.measure.is_standard:
        start_ranking(
            release=board.release,
            rows=rows_of_sources(board.whole),
            name=board.measure.name,
            slice_name=board.slice_name,
        )
    return True


# --- what boards of every form share -------------------------------------------------------


def asked_board(
    request: HttpRequest, release: Release, *, takes_split: bool = True
) -> tuple[Asked, AskedSlice, BoardFilterForm, Board]:
    """The board that an address asks for, with what it asked and what was wrong of it.

    With `takes_split` it is over the split of the open phase, unless another one is asked for.
    """
    choice = asked_measure(request, release)
    sliced = asked_slice(request, release)
    form = BoardFilterForm(request.GET)
    board = board_of(
        release=release,
        user=request.user,
        measure=choice.measure,
        slice_name=sliced.name,
        split=_split(request, release) if takes_split else None,
        asked=form.filter(),
    )
    return choice, sliced, form, board


def _split(request: HttpRequest, release: Release) -> BoardSplit:
    """What unjudged documents could change is known over all splits together alone."""
    split = ALL_SPLITS if shows_scenarios(request) else request.GET.get("split", "").strip()
    return board_split(release, split)


def shows_scenarios(request: HttpRequest) -> bool:
    return request.GET.get("show") == SCENARIOS


def board_context(
    request: SiteRequest, board: Board, choice: Asked, sliced: AskedSlice
) -> dict[str, Any]:
    """What every page of a board names: the release, the measure, and what can be chosen."""
    release = board.release
    means = [row.scores.get(board.measure.name) for row in board.whole]
    return {
        "board": board,
        "release": release,
        "releases": list(published_releases(request.benchmark)),
        "measure": board.measure,
        "asked": choice,
        "sliced": sliced,
        "threshold": board.threshold,
        "measures": board.choices,
        "columns": board.columns,
        "is_share": all(mean is None or 0 <= mean <= 1 for mean in means),
        "has_intervals": any(row.intervals for row in board.whole),
        "has_standings": any(row.standing for row in board.whole),
        "tie_groups": TIE_GROUPS,
        "has_attempts": any(row.adjusted is not None for row in board.whole),
        "has_scenarios": shows_scenarios(request) and may_show_scenarios(board),
        "digits": board.sight.digits,
        "permanent": permanent_link(request, board),
        "asked_query": asked_query(request, board),
    }


def asked_query(request: HttpRequest, board: Board) -> str:
    """The address's query, with the measure by its name and without the page."""
    query: QueryDict = request.GET.copy()
    for name in ("page", "measure"):
        query.pop(name, None)
    query["m"] = board.measure.label
    query["split"] = board.asked_split
    empty = [name for name, values in query.lists() if not any(values)]
    for name in empty:
        del query[name]
    return query.urlencode(safe="@")


def permanent_link(request: SiteRequest, board: Board) -> str:
    """The whole address of what is shown: release, measure, slice and filters are in it."""
    args = [request.benchmark.slug, board.release.version]
    url = reverse("scoring:leaderboard-release", args=args)
    return request.build_absolute_uri(f"{url}?{asked_query(request, board)}")


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def leaderboard_compare(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """From the boxes that were ticked to the comparison's own address."""
    release = release_or_404(benchmark, request.GET.get("release", ""))
    chosen = [run for run in request.GET.getlist("run") if row_key(run) is not None]
    query = QueryDict(mutable=True)
    query["runs"], query["release"] = ",".join(chosen), release.version
    compare = reverse("scoring:comparison", args=[benchmark.slug])
    return redirect(f"{compare}?{query.urlencode(safe=',')}")
