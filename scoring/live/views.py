"""Live systems: search endpoints that are described, tried, and asked for runs."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.language import told
from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchwright.errors import ScoringError
from benchwright.live.presets import PRESETS
from scoring.live.forms import (
    LiveAskForm,
    LiveSystemChangeForm,
    LiveSystemForm,
    LiveTryForm,
    add_service_error,
)
from scoring.live.selectors import job_at_work, jobs_of, live_runs_of, live_systems_of
from scoring.live.services.asking import free_run_name, start_asking
from scoring.live.services.systems import change_live_system, delete_live_system, make_live_system
from scoring.live.services.trying import try_system
from scoring.models import LiveSystem


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def live_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    context = {"page": page_of(request, live_systems_of(benchmark)), "presets": PRESETS}
    return render(request, "scoring/live/live_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def live_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """A new system; `?preset=` fills in how such a server is usually asked."""
    preset = PRESETS.get(request.GET.get("preset", ""), PRESETS["opensearch"])
    form = LiveSystemForm(request.POST or None, initial=preset.fields())
    form.fields["url"].widget.attrs["placeholder"] = preset.url
    if request.method == "POST" and form.is_valid():
        try:
            system = make_live_system(benchmark=benchmark, user=request.user, **form.cleaned_data)
        except ScoringError as error:
            add_service_error(form, error)
        else:
            messages.success(request, f"“{system.name}” is kept. Try one query before you ask all.")
            return redirect(system)
    return _form_page(request, form, preset=preset)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def live_edit(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    system = _system(benchmark, pk)
    initial = LiveSystemChangeForm.initial_of(system)
    form = LiveSystemChangeForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            change_live_system(system=system, user=request.user, **form.cleaned_data)
        except ScoringError as error:
            add_service_error(form, error)
        else:
            messages.success(request, "The live system is changed; runs made before stay.")
            return redirect(system)
    return _form_page(request, form, system=system)


@require_POST
@benchmark_view(Action.EDIT)
def live_delete(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    system = _system(benchmark, pk)
    try:
        delete_live_system(system=system, user=request.user)
    except ScoringError as error:
        messages.error(request, told(error))
        return redirect(system)
    messages.success(request, _("“{name}” is removed; its runs stay.").format(name=system.name))
    return redirect("scoring:live-list", benchmark.slug)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def live_detail(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    return _detail(request, _system(benchmark, pk))


@require_POST
@benchmark_view(Action.EDIT)
def live_try(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Ask one query now: a part of the page with htmx, the whole page without."""
    system = _system(benchmark, pk)
    form = LiveTryForm(request.POST)
    context: dict[str, Any] = {"try_form": form}
    if form.is_valid():
        try:
            context["trial"] = try_system(system=system, query=form.cleaned_data["query"])
        except ScoringError as error:
            form.add_error(None, told(error))
    status = 422 if form.errors else 200
    if request.htmx:
        part = {"system": system, **context}
        return render(request, "scoring/live/_live_trial.html", part, status=status)
    return _detail(request, system, status=status, **context)


@require_POST
@benchmark_view(Action.EDIT)
def live_ask(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Start the job that asks every chosen query."""
    system = _system(benchmark, pk)
    form = LiveAskForm(request.POST, benchmark=benchmark)
    if form.is_valid():
        try:
            job = start_asking(system=system, user=request.user, **form.given())
        except ScoringError as error:
            add_service_error(form, error)
        else:
            return redirect(job)
    return _detail(request, system, status=422, ask_form=form)


def _system(benchmark: Benchmark, pk: int) -> LiveSystem:
    return get_object_or_404(live_systems_of(benchmark), pk=pk)


def _detail(
    request: HttpRequest, system: LiveSystem, *, status: int = 200, **more: Any
) -> HttpResponse:
    context: dict[str, Any] = {
        "system": system,
        "live_runs": live_runs_of(system, request.user),
    }
    if may(request.user, Action.EDIT, system.benchmark):
        context |= _for_keepers(system)
    return render(request, "scoring/live/live_detail.html", {**context, **more}, status=status)


def _for_keepers(system: LiveSystem) -> dict[str, Any]:
    benchmark = system.benchmark
    first = benchmark.queries.committed().order_by("pk").first()
    return {
        "try_form": LiveTryForm(initial={"query": first.text if first else ""}),
        "ask_form": LiveAskForm(benchmark=benchmark, initial={"run": free_run_name(system)}),
        "n_queries": benchmark.queries.committed().count(),
        "job": job_at_work(system),
        "last_job": jobs_of(system).first(),
    }


def _form_page(request: HttpRequest, form: LiveSystemForm, **more: Any) -> HttpResponse:
    status = 422 if form.errors else 200
    context = {"form": form, "presets": PRESETS, **more}
    return render(request, "scoring/live/live_edit.html", context, status=status)
