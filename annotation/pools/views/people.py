"""Who judges a pool, who has which documents, and what waits for somebody."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import pluralize
from django.views.decorators.http import require_POST, require_safe

from annotation.common.selectors import holding
from annotation.judging.protocol.errors import MachineShownError
from annotation.judging.services.claiming import release_slots_of, waive_double_labels
from annotation.models import Pool
from annotation.pools.forms.people import PoolPeopleForm, ReleaseForm
from annotation.pools.services.settings import (
    set_pool_due,
    set_pool_machine,
    set_pool_people,
    set_pool_search,
)
from benchmarks_app.models import Benchmark, User
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest


@require_safe
@benchmark_view(Action.EDIT)
def pool_people(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    pool = _pool(benchmark, pk)
    return _page(request, pool, PoolPeopleForm(pool=pool))


@require_POST
@benchmark_view(Action.EDIT)
def pool_settings(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    pool = _pool(benchmark, pk)
    form = PoolPeopleForm(request.POST, pool=pool)
    if not form.is_valid():
        return _page(request, pool, form, status=422)
    try:
        _set(pool, request.user, **form.cleaned_data)
    except MachineShownError as error:
        form.add_error("shows_machine", str(error))
        return _page(request, pool, form, status=409)
    messages.success(request, "Saved. It holds for the next documents that people get.")
    return _back(pool)


@transaction.atomic
def _set(
    pool: Pool,
    actor: User,
    *,
    due_on: datetime | None,
    may_search: bool,
    shows_machine: bool,
    **people: Any,
) -> None:
    set_pool_people(pool=pool, actor=actor, **people)
    set_pool_due(pool=pool, due_on=due_on and due_on.date(), actor=actor)
    set_pool_search(pool=pool, may_search=may_search, actor=actor)
    set_pool_machine(pool=pool, shows_machine=shows_machine, actor=actor)


@require_POST
@benchmark_view(Action.EDIT)
def pool_release(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Give somebody's documents back to the others."""
    pool = _pool(benchmark, pk)
    form = ReleaseForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose whose documents are given back.")
        return _back(pool)
    person = form.cleaned_data["annotator"]
    n = release_slots_of(pool=pool, annotator=person, actor=request.user)
    messages.success(request, f"{n} document{pluralize(n)} of {person} went back to the queue.")
    return _back(pool)


@require_POST
@benchmark_view(Action.EDIT)
def pool_waive(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """No longer want second labels."""
    pool = _pool(benchmark, pk)
    n = waive_double_labels(pool=pool, actor=request.user)
    messages.success(request, f"{n} label{pluralize(n)} no longer wanted.")
    return _back(pool)


def _pool(benchmark: Benchmark, pk: int) -> Pool:
    pools = Pool.objects.built().select_related("benchmark")
    return get_object_or_404(pools, benchmark=benchmark, pk=pk)


def _back(pool: Pool) -> HttpResponse:
    return redirect("annotation:pool-people", pool.benchmark.slug, pool.pk)


def _page(
    request: HttpRequest, pool: Pool, form: PoolPeopleForm, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {
        "pool": pool,
        "form": form,
        "holders": holding.holders_of(pool),
        "n_second": holding.second_labels(pool).count(),
        "starts": {start.annotator_id: start for start in pool.starts.all()},
        "n_questions": holding.open_questions(pool).count(),
    }
    return render(request, "annotation/pools/pool_people.html", context, status=status)
