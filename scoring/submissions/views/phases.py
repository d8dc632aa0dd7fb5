"""Phases: when runs may be submitted, over which queries, and how often."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from scoring.models import Phase
from scoring.scores.selectors.phases import phases_of, scope_of, state_of_phase
from scoring.scores.selectors.releases import newest_release, published_releases
from scoring.scores.services.firewall import sight_of
from scoring.scores.services.held import ladder_said
from scoring.submissions.forms.phases import NewPhaseForm, PhaseChangeForm, PhaseForm
from scoring.submissions.services import phases, submitting

PAGE_SIZE = 25


@require_safe
@benchmark_view(Action.SUBMIT)
def phase_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    page = page_of(request, phases_of(benchmark), PAGE_SIZE)
    context = {
        "page": page,
        "rows": [(phase, state_of_phase(phase)) for phase in page.object_list],
        "has_release": newest_release(benchmark) is not None,
    }
    return render(request, "scoring/submissions/phase_list.html", context)


@require_safe
@benchmark_view(Action.SUBMIT)
def phase_detail(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    phase = _phase(benchmark, pk)
    context = {
        "phase": phase,
        "state": state_of_phase(phase),
        "scope": scope_of(phase),
        "held": ladder_said(sight_of(request.user, phase.release)),
        "n_left": submitting.n_left_today(phase=phase, user=request.user),
        "n_left_in_all": submitting.n_left_in_all(phase=phase, user=request.user),
    }
    return render(request, "scoring/submissions/phase_detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def phase_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    releases = list(published_releases(benchmark))
    form = NewPhaseForm(request.POST or None, releases=releases, initial={"daily_limit": 20})
    if request.method == "POST" and form.is_valid():
        try:
            phase = phases.make_phase(
                release=form.chosen_release, user=request.user, **form.given()
            )
        except BenchmarkError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"The phase “{phase.name}” is made.")
            return redirect("scoring:phase-detail", benchmark.slug, phase.pk)
    return _form_page(request, form, has_release=bool(releases))


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def phase_edit(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    phase = _phase(benchmark, pk)
    form = PhaseChangeForm(request.POST or None, initial=PhaseForm.initial_of(phase))
    if request.method == "POST" and form.is_valid():
        try:
            phases.change_phase(phase=phase, user=request.user, **form.changes)
        except BenchmarkError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The phase is changed.")
            return redirect("scoring:phase-detail", benchmark.slug, phase.pk)
    return _form_page(request, form, phase=phase, has_release=True)


@require_POST
@benchmark_view(Action.EDIT)
def phase_close(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    phase = phases.close_phase(phase=_phase(benchmark, pk), user=request.user)
    messages.success(request, f"“{phase.name}” takes no more runs.")
    return redirect("scoring:phase-detail", benchmark.slug, phase.pk)


def _phase(benchmark: Benchmark, pk: int) -> Phase:
    return get_object_or_404(phases_of(benchmark), pk=pk)


def _form_page(request: HttpRequest, form: PhaseForm, **more: Any) -> HttpResponse:
    status = 422 if form.errors else 200
    return render(
        request, "scoring/submissions/phase_edit.html", {"form": form, **more}, status=status
    )
