"""A benchmark's overview, settings and activity."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks_app import overview
from benchmarks_app.collections.forms.benchmarks import BenchmarkForm, SettingsForm
from benchmarks_app.collections.services.benchmarks import change_settings, create_benchmark
from benchmarks_app.errors import BlindError
from benchmarks_app.models import AuditEvent, Benchmark, Job
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def benchmark_new(request: PersonRequest) -> HttpResponse:
    form = BenchmarkForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        try:
            benchmark = create_benchmark(owner=request.user, **form.cleaned_data)
        except BenchmarkError as error:
            form.add_error("unit", str(error))
        else:
            message = f"{benchmark} is ready. Import a corpus, queries and runs next."
            messages.success(request, message)
            return redirect("import-new", benchmark.slug)
    status = 422 if form.errors else 200
    return render(
        request, "benchmarks_app/collections/benchmark_new.html", {"form": form}, status=status
    )


@require_safe
@benchmark_view(Action.VIEW)
def benchmark_detail(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    steps = overview.steps_of(benchmark, request.user)
    may_edit = may(request.user, Action.EDIT, benchmark)
    sees_results = may(request.user, Action.SEE_RESULTS, benchmark)
    published = benchmark.releases.published().newest_first()
    context = {
        "steps": steps,
        "next": next((step for step in steps if step["state"] == "current"), None),
        "may_edit": may_edit,
        "active_jobs": benchmark.jobs.active().order_by("-pk")[:5] if may_edit else [],
        "failed_jobs": benchmark.jobs.filter(state=Job.State.FAILED)[:5] if may_edit else [],
        "events": _events(benchmark)[:8] if may_edit else [],
        "release": published.first() if sees_results else None,
        "why_withheld": "" if sees_results else BlindError.message,
    }
    return render(request, "benchmarks_app/collections/benchmark_detail.html", context)


def _events(benchmark: Benchmark) -> QuerySet[AuditEvent]:
    return benchmark.audit_events.select_related("actor").order_by("-at", "-pk")


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def benchmark_settings(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    newest = benchmark.guidelines.order_by("-version").first()
    form = SettingsForm(
        request.POST or None,
        instance=benchmark,
        initial={
            "guideline": newest.text if newest else "",
            "text_format": benchmark.corpus.text_format,
        },
    )
    if request.method == "POST" and form.is_valid():
        change_settings(
            benchmark=form.save(commit=False),
            actor=request.user,
            guideline=form.cleaned_data["guideline"],
            text_format=form.cleaned_data["text_format"],
        )
        messages.success(request, "Saved.")
        return redirect("benchmark-settings", benchmark.slug)
    context = {"form": form, "guideline": newest, "grades": benchmark.grades.all()}
    status = 422 if form.errors else 200
    return render(
        request, "benchmarks_app/collections/benchmark_settings.html", context, status=status
    )
