"""Sending in a run, and following what becomes of it."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.language import told
from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from benchwright.formats.numbers import row_key
from benchwright.runs.facts import shown_facts
from scoring.models import Phase, Submission
from scoring.scores.selectors.phases import scope_of
from scoring.scores.selectors.releases import declared_alone, open_phases
from scoring.scores.services.errors import NameInUseError, SubmittedBeforeError
from scoring.scores.shown import BOARD, FURTHER
from scoring.submissions.forms.submissions import SubmissionForm
from scoring.submissions.selectors.submissions import (
    WAITING,
    approximate_run_of,
    problems_of_submission,
    state_of,
    submission_rows,
    submissions_seen_by,
)
from scoring.submissions.services import submitting
from scoring.submissions.services.resending import n_offered, score_without_lines, send_on
from scoring.submissions.services.sight import rows_as_seen, scores_as_seen
from scoring.submissions.services.withdrawing import may_withdraw, withdraw_run, withdraw_submission

PAGE_SIZE = 25
# What a person sees of the way a submission goes: each stage with the states it is done in.
STAGES = (
    (gettext_noop("Received"), ("validated", "scoring", "scored", "invalid")),
    (gettext_noop("Checked"), ("scoring", "scored")),
    (gettext_noop("Scored"), ("scored",)),
)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SUBMIT)
def submission_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    phases = list(open_phases(benchmark))
    if not phases:
        return submissions_closed(request, benchmark)
    form = SubmissionForm(**of_form(request, benchmark, phases))
    if request.method == "POST" and form.is_valid():
        answer = sent(request, form, partial(_submit, request, form))
        if answer is not None:
            return answer
    context = {"form": form, **of_phases(phases, request.user)}
    status = 422 if form.errors else 200
    return render(request, "scoring/submissions/submission_new.html", context, status=status)


def of_form(request: PersonRequest, benchmark: Benchmark, phases: list[Phase]) -> dict[str, Any]:
    """What a form takes that sends something in."""
    return {
        "data": request.POST or None,
        "files": request.FILES or None,
        "benchmark": benchmark,
        "phases": phases,
        "teams": list(request.user.teams.order_by("name")),
        "initial": {"phase": request.GET.get("phase") or phases[0].pk},
    }


def of_phases(phases: list[Phase], user: Any) -> dict[str, Any]:
    """Open phases as the page shows them: with what they are over, and what is left today."""
    left = [submitting.n_left_today(phase=phase, user=user) for phase in phases]
    return {
        "phases": list(zip(phases, map(scope_of, phases), left, strict=True)),
        "phase": phases[0],
    }


def sent(
    request: HttpRequest, form: SubmissionForm, send: Callable[[], Submission]
) -> HttpResponse | None:
    """Where to go next, or None with the reason on the form."""
    try:
        submission = send()
    except SubmittedBeforeError as error:
        messages.warning(request, told(error))
        return redirect(error.submission)
    except NameInUseError as error:
        form.add_error("name", told(error))
        return None
    except BenchmarkError as error:
        form.add_error(None, told(error))
        return None
    messages.success(request, _("“{run}” is received.").format(run=submission.name))
    return redirect(submission)


def _submit(request: PersonRequest, form: SubmissionForm) -> Submission:
    return submitting.submit_file(
        phase=form.chosen_phase,
        user=request.user,
        team=form.chosen_team,
        file=form.cleaned_data["file"],
        name=form.cleaned_data["name"],
        **form.terms(),
    )


def submissions_closed(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """What is shown in place of a form where no phase takes anything."""
    status = 409 if request.method == "POST" else 200
    context = {
        "reason": submitting.why_closed(benchmark),
        "has_phases": Phase.objects.filter(benchmark=benchmark).exists(),
    }
    return render(request, "scoring/submissions/submission_closed.html", context, status=status)


@require_safe
@benchmark_view(Action.SUBMIT)
def submission_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    submissions = submissions_seen_by(request.user, benchmark)
    page = page_of(request, submissions, PAGE_SIZE)
    releases = {row.phase.release for row in page.object_list}
    declared = {each.name: each for release in releases for each in declared_alone(release)}
    context = {
        "page": page,
        "rows": rows_as_seen(request.user, submission_rows(page.object_list)),
        "columns": [*BOARD, *(declared[name] for name in sorted(declared))],
    }
    return render(request, "scoring/submissions/submission_list.html", context)


@never_cache
@require_safe
@benchmark_view(Action.SUBMIT)
def submission_detail(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    submission = _seen(request, benchmark, pk)
    context = _state(request, submission)
    return render(
        request, "scoring/submissions/submission_detail.html", context | _about(submission)
    )


@never_cache
@require_safe
@benchmark_view(Action.SUBMIT)
def submission_state(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The part of the page that changes while the run is scored."""
    context = _state(request, _seen(request, benchmark, pk))
    return render(request, "scoring/submissions/_submission_state.html", context)


@require_POST
@benchmark_view(Action.SUBMIT)
def submission_withdraw(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    submission = _seen(request, benchmark, pk)
    withdraw_submission(submission=submission, user=request.user)
    message = _("“{run}” is withdrawn: it stands on no board any more.")
    messages.success(request, message.format(run=submission.name))
    return redirect(submission)


@require_POST
@benchmark_view(Action.EDIT)
def run_withdraw(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    run = get_object_or_404(benchmark.runs, pk=pk)
    withdraw_run(run=run, user=request.user)
    message = _("“{run}” is withdrawn: it stands on no board any more.")
    messages.success(request, message.format(run=run.name))
    return redirect("run-detail", benchmark.slug, run.pk)


@require_POST
@benchmark_view(Action.SUBMIT)
def submission_leave_out(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Score a refused file without its bad lines."""
    submission = _seen(request, benchmark, pk)
    n = row_key(request.POST.get("n", "")) or 0
    send = partial(score_without_lines, submission=submission, user=request.user, n=n)
    return _resent(request, submission, send)


@require_POST
@benchmark_view(Action.SUBMIT)
def submission_send_on(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Send a scored run to another phase."""
    submission = _seen(request, benchmark, pk)
    phase = submitting.phase_open_in(benchmark, row_key(request.POST.get("phase", "")))
    send = partial(send_on, submission=submission, phase=phase, user=request.user)
    return _resent(request, submission, send)


def _resent(
    request: PersonRequest, earlier: Submission, send: Callable[[], Submission]
) -> HttpResponse:
    """To the new submission; back to the earlier one with the reason where there is none."""
    try:
        submission = send()
    except BenchmarkError as error:
        messages.error(request, str(error))
        return redirect(earlier)
    messages.success(request, f"“{submission.name}” is received.")
    return redirect(submission)


def _seen(request: PersonRequest, benchmark: Benchmark, pk: int) -> Submission:
    return get_object_or_404(submissions_seen_by(request.user, benchmark), pk=pk)


def _state(request: PersonRequest, submission: Submission) -> dict[str, Any]:
    phase = submission.phase
    state = state_of(submission)
    return {
        "submission": submission,
        "job": submission.job,
        "state": state,
        "stages": _stages(state),
        "problems": problems_of_submission(submission),
        "n_offered": n_offered(submission, request.user),
        "is_waiting": submission.state in WAITING,
        "board": BOARD,
        "of_split": [*BOARD, *declared_alone(phase.release)],
        "further": FURTHER,
        "scores": scores_as_seen(request.user, submission),
        "scope": scope_of(phase),
        "approximate": approximate_run_of(submission.run, request.user),
        "n_left": submitting.n_left_today(
            phase=phase, user=submission.submitter, team=submission.team
        ),
        "may_withdraw": submission.state == Submission.State.SCORED
        and submission.withdrawn_at is None
        and may_withdraw(request.user, submission),
    }


def _stages(state: str) -> list[dict[str, str]]:
    """The stages as `_stepper.html` takes them; the first that is not done is at work."""
    done = [state in states for _, states in STAGES]
    current = done.index(False) if False in done else len(done)
    names = {True: "done", False: "todo"}
    return [
        {"title": title, "state": "current" if place == current else names[done[place]]}
        for place, (title, _) in enumerate(STAGES)
    ]


def _about(submission: Submission) -> dict[str, Any]:
    """What was said of the system: of the run once there is one, before that of the job."""
    run, parameters = submission.run, submission.job.parameters if submission.job else {}
    metadata = run.metadata if run else parameters.get("metadata") or {}
    return {
        "facts": shown_facts(metadata),
        "description": run.description if run else parameters.get("description", ""),
        "sha256": run.sha256 if run else parameters.get("sha256", ""),
    }
