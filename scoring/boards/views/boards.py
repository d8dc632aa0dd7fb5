"""Leaderboards, each of one release."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark, Release
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from benchwright.evaluation.uncertainty import TIE_GROUPS
from benchwright.formats.numbers import row_key
from scoring.boards.columns import CHOSEN, INTERVALS, columns_of
from scoring.boards.forms.boards import BoardFilterForm
from scoring.boards.keeping import KEPT_FOR, Part, kept_for_everybody, kept_part
from scoring.boards.lines import board_lines
from scoring.boards.rows import board_rows, with_own
from scoring.boards.selectors.audiences import own_runs
from scoring.boards.services.boards import (
    Board,
    board_of,
    may_show_scenarios,
    weighted_of,
    with_scenarios,
)
from scoring.boards.services.heat import heat_cells, heat_slices
from scoring.boards.services.judged import BPREF, judged_shares
from scoring.boards.services.slices import row_of
from scoring.boards.views.embedded import embed_links
from scoring.rescoring.services.moving import moves_for_board
from scoring.rescoring.services.rescoring import LOOKED_AT_EVERY, mark_looked_at
from scoring.scores.selectors.attempts import unranked_on
from scoring.scores.selectors.boards import BoardRow
from scoring.scores.selectors.filters import filter_choices
from scoring.scores.selectors.releases import newest_release, published_releases
from scoring.scores.selectors.score_sets import n_runs_without_scores
from scoring.scores.services.held import rows_of_sources
from scoring.scores.services.ranking import is_rankable, start_ranking
from scoring.scores.services.slice_scores import ALL_SPLITS, BoardSplit, board_split
from scoring.scores.views import Asked, AskedSlice, asked_measure, asked_slice, release_or_404

SCENARIOS = "scenarios"
MOST_BASELINES = 30


# Of a board on the overview.
TOP_ROWS = 3


@require_safe
@kept_for_everybody
@benchmark_view(Action.SEE_RESULTS)
def leaderboard(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    """The newest release's board, without a redirect before its first paint.

    A link that goes on meaning the same stands on the page.
    """
    release = newest_release(benchmark)
    if release is None:
        return render(request, "scoring/boards/leaderboard_empty.html")
    return part_page(request, release, _board_part)


@require_safe
@kept_for_everybody
@benchmark_view(Action.SEE_RESULTS)
def leaderboard_release(request: SiteRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    return part_page(request, release_or_404(benchmark, version), _board_part)


def part_page(
    request: SiteRequest,
    release: Release,
    make: Callable[[SiteRequest, Release], Part],
    name: str = "",
) -> HttpResponse:
    """A page of boards around its part, in which the rows of who asks are pointed out."""
    part = kept_part(request, lambda: make(request, release))
    own = own_runs(request.user, request.benchmark)
    context = {"release": release, "part": with_own(part.html, request.benchmark.slug, own)}
    template = f"scoring/boards/leaderboard{name}.html"
    return render(request, template, context, status=part.status)


def _board_part(request: SiteRequest, release: Release) -> Part:
    """What stands inside the page of a board."""
    choice, sliced, form, board = asked_board(request, release)
    form.offer(filter_choices(board.whole))
    page = page_of(request, board.rows)
    if request.user.is_authenticated:
        mark_looked_at(row.score_set for row in page.object_list)
    n_without_scenarios = 0
    if shows_scenarios(request):
        page.object_list, n_without_scenarios = with_scenarios(board, list(page.object_list))
    context = {
        **board_context(request, board, choice, sliced),
        "form": form,
        "page": page,
        **_table_context(request, board, page),
        "chosen_key": CHOSEN,
        "intervals_key": INTERVALS,
        "kept": _kept(request),
        "is_filtered": replace(form.filter(), q="").is_narrow,
        "has_all": not page.has_other_pages() and not board.is_narrow,
        "judged": judged_shares(board),
        "bpref": next((each for each in board.choices if each.name.startswith(BPREF)), None),
        "may_show_scenarios": may_show_scenarios(board) or (board.split and board.sight.is_clear),
        "unranked": unranked_on(release, request.user),
        "n_without_scenarios": n_without_scenarios,
        "n_unscored": n_runs_without_scores(release, request.user),
        "embed": embed_links(request, release.benchmark),
        "is_ranking": _is_ranking(request, board),
    }
    is_wrong = bool(board.split and board.split.error)
    status = 422 if choice.error or sliced.error or form.errors or is_wrong else 200
    content = render_to_string("scoring/boards/_leaderboard.html", context, request)
    return Part(content, status, _kept_for(request, context))


def _kept_for(request: SiteRequest, context: dict[str, Any]) -> timedelta:
    """How long a board may be shown to others: not where a submission's failure is told in it.

    Who is signed in has ranks worked out, and runs looked at, when a board is made for them.
    """
    if context["unranked"].listed:
        return timedelta()
    if not request.user.is_authenticated:
        return KEPT_FOR
    return timedelta(minutes=1) if context["is_ranking"] else LOOKED_AT_EVERY


def _table_context(request: SiteRequest, board: Board, page: Page) -> dict[str, Any]:
    """The table of a page of the board: its lines, columns, slices and what is beside them."""
    rows = list(page.object_list)
    weighted = {
        key: scores.get(board.measure.name)
        for key, scores in weighted_of(board, rows, [board.measure]).items()
    }
    moves = moves_for_board(
        board.release, user=request.user, measure=board.measure, slice_name=board.slice_name
    )
    slices, asked_columns = heat_slices(board), request.GET.getlist("cols")
    columns = columns_of(
        board,
        slices,
        asked_columns,
        has_weighted=bool(weighted),
        has_scenarios=shows_scenarios(request) and may_show_scenarios(board),
        moves=moves,
    )
    baseline = _baseline(request, board)
    lines = board_lines(
        board,
        rows,
        columns,
        first=max(0, page.start_index() - 1),
        heat=heat_cells(board, rows, baseline, columns.slices),
        weighted=weighted,
        moves=moves,
    )
    return {
        "table": lines,
        "rows": board_rows(board, lines, has_intervals=columns.has_intervals),
        "chooser": columns,
        "asked_columns": asked_columns,
        "baseline": baseline,
        "baselines": _baselines(board, baseline) if slices else [],
        "has_heat": bool(columns.slices),
        "few": any(each.is_few for each in columns.slices),
        "all_few": all(each.is_few for each in columns.slices),
        "weighted": weighted,
        "moves": moves,
    }


def _baseline(request: HttpRequest, board: Board) -> BoardRow | None:
    """The run that slices are coloured against: as asked, else the best baseline."""
    asked = row_of(board, request.GET.get("baseline", ""))
    return asked or next((row for row in board.whole if row.is_baseline), None)


def _baselines(board: Board, baseline: BoardRow | None) -> list[BoardRow]:
    """What slices may be coloured against: baselines, the best run, and the one that is."""
    best = board.whole[:1]
    rows = [*best, *(row for row in board.whole if row.is_baseline)][:MOST_BASELINES]
    rows += [baseline] if baseline else []
    return list({row.run.pk: row for row in rows}.values())


def _kept(request: HttpRequest) -> list[tuple[str, str]]:
    """What an address asks beside its columns: choosing these keeps it."""
    asked = request.GET.lists()
    return [
        (name, value)
        for name, values in asked
        if name not in ("cols", "baseline", "page")
        for value in values
        if value
    ]


@require_safe
@kept_for_everybody
@benchmark_view(Action.SEE_RESULTS)
def board_top(request: HttpRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    """The first rows of a board, for the benchmark's overview; as the board without a choice."""
    release = release_or_404(benchmark, version)
    board = board_of(
        release=release,
        user=request.user,
        measure=asked_measure(request, release).measure,
        split=board_split(release),
        is_alone=True,
    )
    context = {
        "board": board,
        "rows": board.whole[:TOP_ROWS],
        "n_more": max(len(board.whole) - TOP_ROWS, 0),
        "digits": min(board.sight.digits, 3),
    }
    return render(request, "scoring/boards/_board_top.html", context)


def _is_ranking(request: HttpRequest, board: Board) -> bool:
    """Whether ranks are still being worked out; who is signed in has that done for everybody."""
    if board.has_ranks or not board.rows:
        return False
    facts: dict[str, Any] = {
        "release": board.release,
        "rows": rows_of_sources(board.whole),
        "name": board.measure.name,
        "slice_name": board.slice_name,
    }
    if not is_rankable(**facts):
        return False
    if request.user.is_authenticated:
        start_ranking(**facts)
    return True


# --- what boards of every form share -------------------------------------------------------


def asked_board(
    request: HttpRequest, release: Release, *, takes_split: bool = True, is_alone: bool = False
) -> tuple[Asked, AskedSlice, BoardFilterForm, Board]:
    """The board that an address asks for, with what it asked and what was wrong of it.

    With `takes_split` it is over the split of the open phase, unless another one is asked for.
    Where its measure `is_alone` no other is read.
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
        is_alone=is_alone,
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
    if request.GET.get("baseline", "") in chosen:
        query["baseline"] = request.GET["baseline"]
    compare = reverse("scoring:comparison", args=[benchmark.slug])
    return redirect(f"{compare}?{query.urlencode(safe=',')}")
