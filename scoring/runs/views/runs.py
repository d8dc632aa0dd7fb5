"""What scoring adds to a run's page, part by part, and the buttons that make or score runs."""

from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from benchmarks_app.models import Benchmark, Run, User
from benchmarks_app.permissions import KEEPERS, Action, benchmark_view, role_in
from benchmarks_app.requests import PersonRequest, SiteRequest
from scoring.boards.services.boards import board_of
from scoring.comparisons.services.against import baselines_for, slices_against
from scoring.models import ScoreSet
from scoring.rescoring.services.rescoring import mark_looked_at, start_scoring_runs
from scoring.runs.charts import slices_chart
from scoring.runs.services import brackets_of, judged_share_of, patterns_of, scenarios_of
from scoring.runs.views.queries import worst_queries
from scoring.scores.selectors.releases import newest_release, open_phase, release_of_version
from scoring.scores.selectors.runs import score_sets_of_run
from scoring.scores.services import measuring
from scoring.scores.services.errors import NoOpenPhaseError
from scoring.scores.services.firewall import sight_of
from scoring.scores.services.slice_scores import board_split, graded_queries
from scoring.scores.shown import BOARD, FIRST_MEASURE, FURTHER, MEASURES, Shown
from scoring.scores.views import Asked, asked_measure, run_of, score_set_of, scores_as_seen
from scoring.submissions.selectors.submissions import state_of, submissions_seen_by
from scoring.submissions.services import submitting


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_scores(request: SiteRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The scores of a run: a part of its page, or a page of its own without htmx."""
    run = run_of(request, benchmark, pk)
    choice = _add_asked(request, run)
    scores = scores_as_seen(request, run)
    newest = scores[0].score_set if scores else None
    if request.user.is_authenticated:
        mark_looked_at(sheet.score_set for sheet in scores)
    context = {
        "run": run,
        "scores": scores,
        "asked": choice,
        "measures": MEASURES,
        "board": BOARD,
        "further": FURTHER,
        "release": newest_release(benchmark),
        "submission": _submission(request, benchmark, run),
        "place": _place(request, newest, choice.measure) if newest else None,
        "against": chosen_baseline("", baselines_for(request.user, newest)) if newest else None,
        "worst": worst_queries(request, run, newest) if newest else None,
        "quota": _quota(request, benchmark),
    }
    template = "scoring/runs/_run_scores.html" if request.htmx else "scoring/runs/run_scores.html"
    return render(request, template, context, status=422 if choice.error else 200)


def _add_asked(request: HttpRequest, run: Run) -> Asked:
    """Compute the measure that is asked for on the release that is shown first."""
    newest = score_sets_of_run(run).first()
    if newest is None:
        return Asked(FIRST_MEASURE)
    choice = asked_measure(request, newest.release)
    if choice.is_added and request.user.is_authenticated:
        measuring.add_measure(release=newest.release, score_sets=[newest], name=choice.measure.name)
    return choice


def _submission(request: HttpRequest, benchmark: Benchmark, run: Run) -> dict[str, Any] | None:
    """What a run was sent in as, for who may see that: its state, and what was wrong."""
    if not request.user.is_authenticated:
        return None
    submission = submissions_seen_by(request.user, benchmark).filter(run=run).first()
    return {"row": submission, "state": state_of(submission)} if submission else None


def _place(request: HttpRequest, score_set: ScoreSet, measure: Shown) -> dict[str, Any] | None:
    """The rank of the run on the board of the release as this person sees it."""
    release = score_set.release
    board = board_of(
        release=release,
        user=request.user,
        measure=measure,
        split=board_split(release),
        is_alone=True,
    )
    row = next((each for each in board.whole if each.run.pk == score_set.run_id), None)
    return {"row": row, "n": len(board.whole), "board": board} if row else None


def _quota(request: HttpRequest, benchmark: Benchmark) -> dict[str, Any] | None:
    """How many runs this person may still submit today."""
    role = role_in(request.user, benchmark)
    phase = open_phase(benchmark)
    if phase is None or role is None or role not in KEEPERS | {"submitter"}:
        return None
    user = cast(User, request.user)  # visitors have no role
    return {"phase": phase, "n_left": submitting.n_left_today(phase=phase, user=user)}


# --- parts of their own: they take longer ----------------------------------------------------


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_slices(request: SiteRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Means by slice beside those of a baseline."""
    run = run_of(request, benchmark, pk)
    score_set = score_set_of(run, request.GET.get("release", ""))
    choice = asked_measure(request, score_set.release)
    measure = choice.measure
    sight = sight_of(request.user, score_set.release)
    choices = baselines_for(request.user, score_set)
    baseline = chosen_baseline(request.GET.get("baseline", ""), choices)
    rows = slices_against(score_set, baseline, measure.name, sight, request.user)
    context = {
        "run": run,
        "score_set": score_set,
        "asked": choice,
        "measure": measure,
        "sight": sight,
        "choices": choices,
        "baseline": baseline,
        "rows": rows,
        "chart": slices_chart(measure.label, rows, baseline.run.name if baseline else ""),
        "chart_name": f"slices-{baseline.run_id if baseline else 'none'}",
    }
    template = "scoring/runs/_run_slices.html" if request.htmx else "scoring/runs/run_slices.html"
    return render(request, template, context, status=422 if choice.error else 200)


def chosen_baseline(wanted: str, choices: list[ScoreSet]) -> ScoreSet | None:
    """The run of this key; without one the first baseline there is."""
    named = next((row for row in choices if str(row.run_id) == wanted), None)
    if named or wanted == "none":
        return named
    return next((row for row in choices if row.run.kind == Run.Kind.BASELINE), None)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_reading(request: SiteRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """What the numbers suggest, and what the unjudged documents could still change."""
    run = run_of(request, benchmark, pk)
    score_set = score_set_of(run, request.GET.get("release", ""))
    sight = sight_of(request.user, score_set.release)
    template = "scoring/runs/_run_reading.html" if request.htmx else "scoring/runs/run_reading.html"
    if not graded_queries(score_set.release) - sight.hidden:
        return render(request, template, {"run": run, "score_set": score_set, "is_hidden": True})
    scenarios, n_draws = scenarios_of(score_set, sight)
    context = {
        "run": run,
        "score_set": score_set,
        "sight": sight,
        "judged": judged_share_of(score_set, sight),
        "patterns": patterns_of(score_set, sight),
        "scenarios": scenarios,
        "n_draws": n_draws,
        "brackets": brackets_of(score_set, sight),
        "measure": FIRST_MEASURE,
    }
    return render(request, template, context)


# --- buttons ---------------------------------------------------------------------------------


@require_POST
@benchmark_view(Action.EDIT)
def runs_score(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Score the runs that a release (the newest, or the one posted) has no scores of."""
    version = request.POST.get("release", "")
    release = release_of_version(benchmark, version) if version else newest_release(benchmark)
    if release is None:
        raise NoOpenPhaseError(benchmark=benchmark.name)
    job = start_scoring_runs(release=release, user=request.user)
    text = _("The runs are being scored on {version}.")
    messages.success(request, text.format(version=release.version))
    return redirect(job)
