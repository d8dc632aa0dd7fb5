"""What contextual precision adds to a run's page, and the case sets that are made of a run."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks_app.models import Benchmark, Job, Run
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest, SiteRequest
from benchwright.errors import BenchmarkError
from scoring.contextual.forms import RunCasesForm
from scoring.contextual.services.from_runs import start_cases_of_run
from scoring.contextual.services.results import values_of_run
from scoring.scores.views import run_of

VALUES_SHOWN = 5


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contextual_run(request: SiteRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Contextual precision of a run: a part of its page, or a page of its own without htmx."""
    run = run_of(request, benchmark, pk)
    context = {
        "run": run,
        "of_run": values_of_run(run, request.user, most=VALUES_SHOWN),
        "may_edit": may(request.user, Action.EDIT, benchmark),
    }
    name = "_contextual_run" if request.htmx else "contextual_run"
    return render(request, f"scoring/contextual/{name}.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def contextual_run_new(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Make a case set of a run."""
    run = run_of(request, benchmark, pk)
    is_posted = request.method == "POST"
    form = RunCasesForm(request.POST if is_posted else None, benchmark=benchmark)
    if is_posted and form.is_valid():
        job = _started(request, run, form)
        if job is not None:
            return redirect(job)
    status = 422 if form.errors else 200
    context = {"run": run, "form": form}
    return render(request, "scoring/contextual/contextual_run_new.html", context, status=status)


def _started(request: PersonRequest, run: Run, form: RunCasesForm) -> Job | None:
    name = form.cleaned_data["name"]
    try:
        return start_cases_of_run(run=run, user=request.user, name=name, **form.recipe)
    except BenchmarkError as error:
        form.add_error("name" if error.code == "case-set-name" else None, str(error))
        return None
