"""Judges: for who keeps the benchmark, since asking them costs money."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.judges.forms import JudgeForm
from benchmarks_app.judges.selectors import judges_of, uses_of
from benchmarks_app.judges.services.judges import (
    change_judge,
    delete_judge,
    make_judge,
    start_trial,
)
from benchmarks_app.judges.services.keys import missing_packages, origin_or_text
from benchmarks_app.models import Benchmark, JudgeEndpoint
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError

FIELD_OF = {
    "judge-name": "name",
    "judge-address": "base_url",
    "judge-key-variable": "key_variable",
    "judge-key-moved": "key",
}


@require_safe
@benchmark_view(Action.EDIT)
def judge_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    context = {"judges": list(judges_of(benchmark)), "missing": missing_packages()}
    return render(request, "benchmarks_app/judges/judge_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def judge_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    form = JudgeForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            judge = make_judge(benchmark=benchmark, user=request.user, **form.facts)
        except BenchmarkError as error:
            _add(form, error)
        else:
            messages.success(request, "The judge is there. Try it before it judges in earnest.")
            return redirect(judge)
    context = {"form": form, "missing": missing_packages()}
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/judges/judge_new.html", context, status=status)


def _add(form: JudgeForm, error: BenchmarkError) -> None:
    field = FIELD_OF.get(error.code)
    form.add_error(field if field in form.fields else None, str(error))


def _judge(benchmark: Benchmark, pk: int) -> JudgeEndpoint:
    return get_object_or_404(judges_of(benchmark), pk=pk)


def _context(judge: JudgeEndpoint) -> dict[str, Any]:
    job = judge.trial_job
    return {
        "judge": judge,
        "origin": origin_or_text(judge.base_url),
        "job": job,
        "is_trying": bool(job and not job.is_finished),
        "missing": missing_packages(),
    }


@require_safe
@benchmark_view(Action.EDIT)
def judge_detail(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    judge = _judge(benchmark, pk)
    context = {**_context(judge), "uses": uses_of(judge)}
    return render(request, "benchmarks_app/judges/judge_detail.html", context)


@require_safe
@benchmark_view(Action.EDIT)
def judge_trial(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """What came back, once it has."""
    context = _context(_judge(benchmark, pk))
    response = render(request, "benchmarks_app/judges/_judge_trial.html", context)
    if request.htmx and not context["is_trying"]:
        response["HX-Refresh"] = "true"  # the page says more of a judge that was tried
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def judge_edit(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    judge = _judge(benchmark, pk)
    form = JudgeForm(request.POST if request.method == "POST" else None, judge=judge)
    if form.is_bound and form.is_valid():
        try:
            change_judge(judge=judge, user=request.user, **form.facts)
        except BenchmarkError as error:
            _add(form, error)
        else:
            messages.success(request, "The judge was changed.")
            return redirect(judge)
    context = {"form": form, "judge": judge, "missing": missing_packages()}
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/judges/judge_edit.html", context, status=status)


@require_POST
@benchmark_view(Action.EDIT)
def judge_try(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    judge = _judge(benchmark, pk)
    start_trial(judge=judge, user=request.user)
    return redirect(judge)


@require_POST
@benchmark_view(Action.EDIT)
def judge_delete(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    judge = _judge(benchmark, pk)
    delete_judge(judge=judge, user=request.user)
    messages.success(request, f"The judge “{judge.name}” and its key were deleted.")
    return redirect("judge-list", benchmark.slug)
