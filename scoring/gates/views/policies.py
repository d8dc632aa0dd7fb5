"""Policies: made before a candidate is uploaded, looked at, retired."""

from typing import Any, cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.language import told
from benchmarks_app.models import Benchmark, Release, User
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from benchwright.gates.errors import RehearsalError
from scoring.gates.forms import GateForm, PolicyForm
from scoring.gates.selectors import (
    gates_seen_by,
    is_maker_told,
    policies_seen_by,
    rehearsals_seen_by,
)
from scoring.gates.services.gating import start_gate
from scoring.gates.services.policies import make_policy, may_retire, plan_of, retire_policy
from scoring.gates.services.rehearsing import freeze_rehearsed, rates_told, start_rehearsal
from scoring.models import GatePolicy, GateRehearsal
from scoring.scores.selectors.rankings import runs_offered
from scoring.scores.selectors.releases import newest_release

MOST_GATES = 20


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SUBMIT)
def policy_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """What a candidate must show, with what the queries there are can show at all."""
    release = newest_release(benchmark)
    has_runs = runs_offered(benchmark, request.user).exists()
    if release is None or not has_runs:
        empty = {"release": release, "has_runs": has_runs}
        return render(request, "scoring/gates/policy_empty.html", empty)
    form = PolicyForm(request.POST or None, benchmark=benchmark, user=request.user)
    if request.method == "POST" and form.is_valid():
        is_rehearsal = request.POST.get("do") == "rehearse"
        if is_rehearsal:
            draft: GatePolicy | GateRehearsal | None = _rehearsed(request, benchmark, release, form)
        else:
            draft = _made(request, benchmark, form)
        if draft is not None:
            return redirect(draft)
    status = 422 if request.method == "POST" else 200
    context: dict[str, Any] = {
        "form": form,
        "release": release,
        "plan": plan_of(benchmark, release),
    }
    return render(request, "scoring/gates/policy_new.html", context, status=status)


def _made(request: PersonRequest, benchmark: Benchmark, form: PolicyForm) -> GatePolicy | None:
    """The policy; None where it could not be made, which the form then says."""
    cleaned = form.cleaned_data
    try:
        policy = make_policy(
            benchmark=benchmark,
            name=cleaned["name"],
            baseline=cleaned["baseline"],
            lexical=cleaned["lexical"],
            content=form.content,
            user=request.user,
        )
    except BenchmarkError as error:
        form.add_error(None, told(error))
        return None
    messages.success(
        request, _("{policy} is frozen. Upload the candidate now.").format(policy=policy)
    )
    return policy


def _rehearsed(
    request: PersonRequest, benchmark: Benchmark, release: Release, form: PolicyForm
) -> GateRehearsal | None:
    """The rehearsal; None where it cannot be made, which the form then says."""
    cleaned = form.cleaned_data
    try:
        return start_rehearsal(
            benchmark=benchmark,
            release=release,
            name=cleaned["name"],
            baseline=cleaned["baseline"],
            lexical=cleaned["lexical"],
            runs=list(cleaned["runs"]),
            content=form.content,
            user=request.user,
        )
    except RehearsalError as error:
        form.add_error("runs", told(error))
    except BenchmarkError as error:
        form.add_error(None, told(error))
    return None


def _rehearsal(request: HttpRequest, benchmark: Benchmark, pk: int) -> GateRehearsal:
    return get_object_or_404(rehearsals_seen_by(request.user, benchmark), pk=pk)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SUBMIT)
def rehearsal_detail(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """How often a draft is right; POST freezes it."""
    rehearsal = _rehearsal(request, benchmark, pk)
    error = ""
    if request.method == "POST":
        try:
            policy = freeze_rehearsed(rehearsal=rehearsal, user=request.user)
        except BenchmarkError as refused:
            error = told(refused)
        else:
            messages.success(
                request, _("{policy} is frozen. Upload the candidate now.").format(policy=policy)
            )
            return redirect(policy)
    context = {
        **_state(rehearsal),
        "error": error,
        "said": rehearsal.content,
        "rehearsed": rates_told(request.user, benchmark, rehearsal.result),
    }
    status = 422 if error else 200
    return render(request, "scoring/gates/rehearsal_detail.html", context, status=status)


@require_safe
@benchmark_view(Action.SUBMIT)
def rehearsal_state(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """How far it is; once it is done, the page is loaded as a whole."""
    context = _state(_rehearsal(request, benchmark, pk))
    response = render(request, "scoring/gates/_rehearsal_state.html", context)
    if request.htmx and not context["is_waiting"]:
        response["HX-Refresh"] = "true"
    return response


def _state(rehearsal: GateRehearsal) -> dict[str, Any]:
    is_waiting = rehearsal.state == GateRehearsal.State.QUEUED
    return {"rehearsal": rehearsal, "job": rehearsal.job, "is_waiting": is_waiting}


def _policy(request: HttpRequest, benchmark: Benchmark, pk: int) -> GatePolicy:
    return get_object_or_404(policies_seen_by(request.user, benchmark), pk=pk)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SEE_RESULTS)
def policy_detail(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The policy, and a form that holds a candidate against it."""
    policy = _policy(request, benchmark, pk)
    may_ask = may(request.user, Action.SUBMIT, benchmark)
    if request.method == "POST" and not may_ask:
        raise PermissionDenied
    form = GateForm(request.POST or None, policy=policy, user=request.user) if may_ask else None
    if request.method == "POST" and form and form.is_valid():
        try:
            user = cast(User, request.user)  # visitors may not ask
            return redirect(start_gate(policy=policy, user=user, **form.cleaned_data))
        except BenchmarkError as error:
            form.add_error(None, told(error))
    context: dict[str, Any] = {
        "policy": policy,
        "rehearsed": rates_told(request.user, benchmark, policy.rehearsal),
        "form": form,
        "gates": gates_seen_by(request.user, benchmark).filter(policy=policy)[:MOST_GATES],
        "may_retire": may_retire(request.user, policy),
        "is_maker_told": is_maker_told(request.user, policy),
        "server": request.build_absolute_uri(reverse("home")).rstrip("/"),
        "release": newest_release(benchmark),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "scoring/gates/policy_detail.html", context, status=status)


@require_POST
@benchmark_view(Action.SUBMIT)
def policy_retire(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    policy = _policy(request, benchmark, pk)
    if not may_retire(request.user, policy):
        raise PermissionDenied
    retire_policy(policy=policy, user=request.user)
    messages.success(
        request, _("{policy} decides no more gates; what it decided stays.").format(policy=policy)
    )
    return redirect(policy)
