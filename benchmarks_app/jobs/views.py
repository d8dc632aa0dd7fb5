"""Background work, as a person sees it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from benchmarks_app.jobs.services.retry import cancel, is_retryable, may_cancel, may_retry, retry
from benchmarks_app.models import Benchmark, Job
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchmarks_app.site.selectors import has_worker, jobs_readable_by

PAGE_SIZE = 25


@require_safe
@benchmark_view(Action.EDIT)
def job_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    jobs = benchmark.jobs.select_related("created_by").order_by("-created_at", "-pk")
    page = Paginator(jobs, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "benchmarks_app/jobs/job_list.html", {"page": page})


@never_cache
@login_required
@require_safe
def job_detail(request: PersonRequest, pk: int) -> HttpResponse:
    job = _readable(request, pk)
    if job.benchmark and may(request.user, Action.VIEW, job.benchmark):
        request.benchmark = job.benchmark  # the sidebar
    return render(request, "benchmarks_app/jobs/job_detail.html", _state(request, job))


@never_cache
@login_required
@require_safe
def job_progress(request: PersonRequest, pk: int) -> HttpResponse:
    """The part of the job page that changes; the page asks for it every second."""
    return render(
        request, "benchmarks_app/common/_job_progress.html", _state(request, _readable(request, pk))
    )


@login_required
@require_POST
def job_retry(request: PersonRequest, pk: int) -> HttpResponse:
    job = _readable(request, pk)
    if not may_retry(request.user, job):
        raise PermissionDenied
    retry(job=job, user=request.user)
    messages.success(request, f"“{job.title}” is queued again.")
    return redirect(job)


@login_required
@require_POST
def job_cancel(request: PersonRequest, pk: int) -> HttpResponse:
    job = _readable(request, pk)
    if not may_cancel(request.user, job):
        raise PermissionDenied
    cancel(job=job, user=request.user)
    messages.success(request, f"“{job.title}” is cancelled; nothing of it is kept.")
    return redirect(job)


def _readable(request: HttpRequest, pk: int) -> Job:
    jobs = jobs_readable_by(request.user).select_related("benchmark", "created_by")
    return get_object_or_404(jobs, pk=pk)


def _state(request: HttpRequest, job: Job) -> dict[str, Any]:
    return {
        "job": job,
        "may_retry": is_retryable(job) and may_retry(request.user, job),
        "may_cancel": not job.is_finished and may_cancel(request.user, job),
        "lacks_worker": job.state == Job.State.QUEUED and not has_worker(),
        "took": _took(job),
    }


def _took(job: Job) -> str:
    """How long the last attempt took, as people say it; "" while that is not known."""
    if not (job.started_at and job.finished_at):
        return ""
    minutes, seconds = divmod(round((job.finished_at - job.started_at).total_seconds()), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
