"""A board slice by slice, and how its top rose: tables, their files, and a chart."""

import csv
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from benchmarks_app.charts import chart_response
from benchmarks_app.models import Benchmark, Release
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from benchwright.errors import ScoringError
from benchwright.files.cells import safe_cell
from scoring.boards.charts import history_chart
from scoring.boards.keeping import KEPT_FOR, Part, kept_for_audience, kept_for_everybody
from scoring.boards.rows import slice_rows
from scoring.boards.services.boards import Board, board_of
from scoring.boards.services.slices import (
    SliceBoard,
    add_slice_means,
    row_of,
    slice_board,
    slice_labels,
)
from scoring.boards.views.boards import asked_board, board_context, part_page
from scoring.boards.views.files import refusal
from scoring.scores.selectors.boards import records_of
from scoring.scores.services.firewall import measure_seen
from scoring.scores.services.slice_scores import board_split
from scoring.scores.views import release_or_404

# Runs that a small multiple holds.
BEST_OF_SLICE = 5


# --- slice by slice ------------------------------------------------------------------------


@require_safe
@kept_for_everybody
@benchmark_view(Action.SEE_RESULTS)
def leaderboard_slices(request: SiteRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    return part_page(request, release_or_404(benchmark, version), _slices_part, "_slices")


def _slices_part(request: SiteRequest, release: Release) -> Part:
    choice, sliced, form, board = asked_board(request, release, takes_split=False)
    page = page_of(request, board.rows)
    n_lacking = add_slice_means(board, page.object_list) if request.user.is_authenticated else 0
    baseline = row_of(board, request.GET.get("baseline", ""))
    slices = slice_board(board, list(page.object_list), baseline)
    context = {
        **board_context(request, board, choice, sliced),
        "form": form,
        "page": page,
        "found": slices,
        "rows": slice_rows(board, slices),
        "baseline": baseline,
        "multiples": slices.multiples(BEST_OF_SLICE),
        "n_lacking": n_lacking,
        "csv_query": _query(request, board),
        "splits": board_split(release).splits,
    }
    status = 422 if choice.error or form.errors else 200
    content = render_to_string("scoring/boards/_leaderboard_slices.html", context, request)
    # Who asks for what is lacking once more has more of it computed.
    return Part(content, status, timedelta() if n_lacking else KEPT_FOR)


def _query(request: HttpRequest, board: Board) -> str:
    params = {"m": board.measure.label}
    if baseline := request.GET.get("baseline"):
        params["baseline"] = baseline
    return urlencode(params)


@require_safe
@kept_for_everybody
@benchmark_view(Action.SEE_RESULTS)
@kept_for_audience
def leaderboard_slices_csv(
    request: HttpRequest, benchmark: Benchmark, version: str
) -> HttpResponse:
    release = release_or_404(benchmark, version)
    choice, *_, board = asked_board(request, release, takes_split=False, is_alone=True)
    if choice.error:
        return refusal(choice)
    slices = slice_board(board, board.rows, row_of(board, request.GET.get("baseline", "")))
    columns = ["run", "by", "slice", "n_queries", "mean", "low", "high", "difference"]
    # A response takes each line on its own, of which there are as many as runs and slices.
    file = StringIO()
    csv.writer(file).writerows([columns, *_slice_lines(slices)])
    response = HttpResponse(file.getvalue(), content_type="text/csv; charset=utf-8")
    name = f"{benchmark.slug}-{version}-slices.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _slice_lines(slices: SliceBoard) -> Iterator[tuple[Any, ...]]:
    """Numbers in full, as `csv` writes them; what is None stays empty."""
    labels = [safe_cell(label) for label in slice_labels(slices)]
    for of in slices.rows:
        name, by = safe_cell(of.row.run.name), safe_cell(of.row.by)
        for label, cell in zip(labels, of.cells, strict=True):
            low, high = cell.interval or (None, None)
            yield name, by, label, cell.n, cell.mean, low, high, cell.difference


# --- how the top rose ----------------------------------------------------------------------


@require_safe
@kept_for_everybody
@benchmark_view(Action.SEE_RESULTS)
def leaderboard_history(request: SiteRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    return part_page(request, release_or_404(benchmark, version), _history_part, "_history")


def _history_part(request: SiteRequest, release: Release) -> Part:
    choice, sliced, form, board = asked_board(request, release)
    records = records_of(board.whole, board.measure.name)
    context = {
        **board_context(request, board, choice, sliced),
        "form": form,
        "records": records[::-1],
        "chart": history_chart(board.measure, records),
        "chart_url": _history_url(release, board) if len(records) > 1 else "",
    }
    is_wrong = bool(sliced.error or (board.split and board.split.error))
    status = 422 if choice.error or is_wrong else 200
    content = render_to_string("scoring/boards/_leaderboard_history.html", context, request)
    return Part(content, status)


def _history_url(release: Release, board: Board) -> str:
    """Of the queries that a board takes unasked; of others there is no chart."""
    if board.slice_name != board_split(release).slice_name or "/" in board.measure.name:
        return ""
    args = [release.benchmark.slug, release.version, board.measure.spelled, "svg"]
    return reverse("scoring:leaderboard-history-chart", args=args)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def leaderboard_history_chart(
    request: HttpRequest, benchmark: Benchmark, version: str, measure: str, format: str
) -> HttpResponse:
    release = release_or_404(benchmark, version)
    try:
        shown_measure = measure_seen(request.user, release, measure)
    except ScoringError as error:
        raise Http404 from error
    board = board_of(
        release=release,
        user=request.user,
        measure=shown_measure,
        split=board_split(release),
        is_alone=True,
    )
    records = records_of(board.whole, board.measure.name)
    return chart_response(request, history_chart(shown_measure, records), format)
