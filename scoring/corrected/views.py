"""People's labels and a machine's grades together, on pages of their own."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from benchwright.formats.numbers import row_key
from scoring.boards.views.boards import asked_board, board_context
from scoring.corrected.selectors import machine_sets
from scoring.corrected.services import MOST_RUNS, corrected_board
from scoring.scores.views import release_or_404


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def leaderboard_corrected(request: SiteRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    """`?machine=` names a set by its key; who is signed in has lacking values computed."""
    release = release_or_404(benchmark, version)
    choice, sliced, _, board = asked_board(request, release)
    corrected = corrected_board(
        board,
        machine=row_key(request.GET.get("machine", "")),
        computes=request.user.is_authenticated,
    )
    context = {
        **board_context(request, board, choice, sliced),
        "corrected": corrected,
        "machines": list(machine_sets(benchmark)),
        "most_runs": MOST_RUNS if len(board.whole) > MOST_RUNS else 0,
    }
    return render(request, "scoring/corrected/leaderboard_corrected.html", context)
