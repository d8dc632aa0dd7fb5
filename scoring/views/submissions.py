"""Sending in a run, and following what becomes of it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.services.uploading import receive_upload
from scoring import selectors
from scoring.forms.submissions import SubmissionForm
from scoring.models import Phase, Submission
from scoring.services import submitting
from scoring.services.errors import NameInUseError, SubmittedBeforeError
from scoring.shown import BOARD, FURTHER

PAGE_SIZE = 25


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SUBMIT)
def submission_new(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    phase = selectors.open_phase(benchmark)
    if phase is None:
        status = 409 if request.method == "POST" else 200
        return render(request, "scoring/submission_closed.html", status=status)
    form = SubmissionForm(request.POST or None, request.FILES or None, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        answer = _submit(request, phase, form)
        if answer is not None:
            return answer
    context = {
        "form": form,
        "phase": phase,
        "n_left": submitting.n_left_today(phase=phase, user=request.user),
    }
    status = 422 if form.errors else 200
    return render(request, "scoring/submission_new.html", context, status=status)


def _submit(request: HttpRequest, phase: Phase, form: SubmissionForm) -> HttpResponse | None:
    """Where to go next, or None with the reason on the form."""
    try:
        # Asked before the file is stored, and again, under a lock, when it is accepted.
        submitting.refuse_over_limit(phase=phase, user=request.user)
        submission = _accepted(request, phase, form)
    except SubmittedBeforeError as error:
        messages.warning(request, str(error))
        return redirect(error.submission)
    except NameInUseError as error:
        form.add_error("name", str(error))
        return None
    except BenchmarkError as error:
        form.add_error(None, str(error))
        return None
    messages.success(request, f"“{submission.name}” is received.")
    return redirect(submission)


def _accepted(request: HttpRequest, phase: Phase, form: SubmissionForm) -> Submission:
    given = dict(form.cleaned_data)
    upload = receive_upload(benchmark=phase.benchmark, owner=request.user, file=given.pop("file"))
    return submitting.accept_submission(phase=phase, user=request.user, upload=upload, **given)


@require_safe
@benchmark_view(Action.SUBMIT)
def submission_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    seen = selectors.submissions_seen_by(request.user, benchmark)
    page = page_of(request, seen, PAGE_SIZE)
    context = {
        "page": page,
        "rows": selectors.submission_rows(page.object_list),
        "columns": BOARD,
    }
    return render(request, "scoring/submission_list.html", context)


@never_cache
@require_safe
@benchmark_view(Action.SUBMIT)
def submission_detail(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    context = _state(request, benchmark, pk)
    return render(request, "scoring/submission_detail.html", context)


@never_cache
@require_safe
@benchmark_view(Action.SUBMIT)
def submission_state(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The part of the page that changes while the run is scored."""
    context = _state(request, benchmark, pk)
    return render(request, "scoring/_submission_state.html", context)


def _state(request: HttpRequest, benchmark: Benchmark, pk: int) -> dict[str, Any]:
    submission = get_object_or_404(selectors.submissions_seen_by(request.user, benchmark), pk=pk)
    phase, run = submission.phase, submission.run
    return {
        "submission": submission,
        "job": submission.job,
        "state": selectors.state_of(submission),
        "is_waiting": submission.state in selectors.WAITING,
        "board": BOARD,
        "further": FURTHER,
        "score_set": selectors.score_set_of(run=run, release=phase.release) if run else None,
        "n_left": submitting.n_left_today(phase=phase, user=submission.submitter),
    }
