"""People's labels and a machine's grades together, on pages of their own."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from benchmarks_app.common.selectors.qrel_sets import machine_sets
from benchmarks_app.language import is_translated, told
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from benchwright.errors import BenchmarkError
from scoring.boards.views.boards import asked_board, board_context
from scoring.comparisons.forms import asked_comparison, asked_release
from scoring.corrected.services.correcting import (
    MOST_RUNS,
    NotCorrectedError,
    corrected_board,
    corrected_pair,
)
from scoring.corrected.services.machines import LEARNED, LEARNED_NAME
from scoring.scores.views import release_or_404


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def leaderboard_corrected(request: SiteRequest, benchmark: Benchmark, version: str) -> HttpResponse:
    """`?machine=` is the key of a set, or `learned`; lacking values are for who is signed in."""
    release = release_or_404(benchmark, version)
    choice, sliced, _, board = asked_board(request, release)
    machine = request.GET.get("machine", "")
    computes = request.user.is_authenticated
    corrected = corrected_board(board, machine=machine, computes=computes)
    context = {
        **board_context(request, board, choice, sliced),
        "corrected": corrected,
        **_refused(corrected.error, request),
        "machines": _choices(benchmark),
        "asked_machine": corrected.machine.key if corrected.machine else machine,
        "most_runs": MOST_RUNS if len(board.whole) > MOST_RUNS else 0,
    }
    return render(request, "scoring/corrected/leaderboard_corrected.html", context)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def comparison_corrected(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    """A part of the comparison of two runs, or a page of its own without htmx."""
    release = asked_release(request.GET, benchmark)
    if release is None:
        return render(request, "scoring/comparisons/comparison_empty.html")
    context = {"release": release, "machines": _choices(benchmark)}
    status = 200
    try:
        choice = asked_comparison(request.GET, request.user, release)
        if len(choice.score_sets) < 2:
            return redirect("scoring:comparison", benchmark.slug)
        run, reference = choice.pair()
        context |= {"run": run.run, "reference": reference.run, "measure": choice.measure}
        context["pair"] = corrected_pair(
            run,
            reference,
            measure=choice.measure.name,
            machine=request.GET.get("machine", ""),
            is_clear=not choice.is_public,
            computes=request.user.is_authenticated,
        )
    except BenchmarkError as error:
        context |= _refused(error, request)
        # A refusal is an answer here; a comparison that cannot be asked for is not.
        status = 200 if request.htmx or "run" in context else error.status
    name = "_comparison_corrected" if request.htmx else "comparison_corrected"
    return render(request, f"scoring/corrected/{name}.html", context, status=status)


def _choices(benchmark: Benchmark) -> list[tuple[str, str]]:
    """Key and name of each machine that can be chosen."""
    sets = machine_sets(benchmark).values_list("pk", "name")
    return [*((str(key), name) for key, name in sets), (LEARNED, gettext(LEARNED_NAME))]


def _refused(error: BenchmarkError | None, request: SiteRequest) -> dict[str, object]:
    """Why there is no corrected mean, and whether that is said in the reader's language."""
    if error is None:
        return {}
    is_told = isinstance(error, NotCorrectedError) or is_translated(error, request)
    return {"refusal": told(error), "refusal_is_english": not is_told}
