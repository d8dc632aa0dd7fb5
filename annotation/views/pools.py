"""Pools: building, watching, pausing, and publishing what was judged."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation import selectors
from annotation.core.rules import RULES
from annotation.forms import PoolForm, PoolStateForm, QrelsForm
from annotation.models import Pool
from annotation.services.pooling import pool_arguments, set_pool_state
from annotation.services.publishing import publishing_arguments
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.services import jobs

PAGE_SIZE = 25
# Fewer systems leave a new one with more than a third of its top 10 unjudged (METHODS.md 2.4).
FEW_RUNS = 3


@require_safe
@benchmark_view(Action.SEE_POOLS)
def pool_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    page = page_of(request, selectors.pools_of(benchmark), PAGE_SIZE)
    n_runs = Run.objects.visible_to(request.user).filter(benchmark=benchmark).count()
    return render(request, "annotation/pool_list.html", {"page": page, "n_runs": n_runs})


@benchmark_view(Action.EDIT)
def pool_new(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    runs = Run.objects.visible_to(request.user).filter(benchmark=benchmark).order_by("name")
    form = PoolForm(request.POST or None, benchmark=benchmark, runs=runs)
    if request.method == "POST" and form.is_valid():
        chosen = {**form.cleaned_data, "runs": list(form.cleaned_data["runs"])}
        with transaction.atomic():
            arguments = pool_arguments(benchmark=benchmark, **chosen)
            job = jobs.start(benchmark=benchmark, user=request.user, **arguments)
        return redirect(job)
    context = {"form": form, "has_runs": runs.exists()}
    status = 422 if form.errors else 200
    return render(request, "annotation/pool_new.html", context, status=status)


@require_safe
@benchmark_view(Action.SEE_POOLS)
def pool_detail(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    pool = _pool(benchmark, pk)
    context = {
        "pool": pool,
        "matrix": overlap_matrix(pool.statistics),
        "runs": _contributions(pool),
        "has_few_runs": len(pool.statistics["runs"]) < FEW_RUNS,
        "form": QrelsForm(benchmark=benchmark),
        **_progress(pool),
    }
    return render(request, "annotation/pool_detail.html", context)


@require_safe
@benchmark_view(Action.SEE_POOLS)
def pool_progress(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The part of the pool's page that changes while people judge."""
    pool = _pool(benchmark, pk)
    return render(request, "annotation/_pool_progress.html", {"pool": pool, **_progress(pool)})


@require_POST
@benchmark_view(Action.EDIT)
def pool_state(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    pool = _pool(benchmark, pk)
    form = PoolStateForm(request.POST)
    if form.is_valid():
        pool = set_pool_state(pool=pool, state=form.cleaned_data["state"], actor=request.user)
        messages.success(request, f"The pool is {pool.get_state_display().lower()} now.")
    else:
        messages.error(request, "A pool can be open, paused or closed.")
    return redirect(pool)


@benchmark_view(Action.EDIT)
def qrels_publish(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """A set of qrels from everything that was judged in the benchmark, whichever the pool."""
    form = QrelsForm(request.POST or None, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            arguments = publishing_arguments(benchmark=benchmark, **form.cleaned_data)
            job = jobs.start(benchmark=benchmark, user=request.user, **arguments)
        return redirect(job)
    context = {"form": form, "rules": RULES}
    status = 422 if form.errors else 200
    return render(request, "annotation/qrels_publish.html", context, status=status)


def _pool(benchmark: Benchmark, pk: int) -> Pool:
    built = Pool.objects.built().select_related("benchmark", "created_by")
    return get_object_or_404(built, benchmark=benchmark, pk=pk)


def _progress(pool: Pool) -> dict[str, Any]:
    return {"progress": selectors.pool_progress(pool), "people": selectors.people_of(pool)}


def _contributions(pool: Pool) -> list[dict[str, Any]]:
    return [
        {**run, "share": run["n"] / pool.n_entries, "unique_share": run["n_unique"] / run["n"]}
        if run["n"]
        else {**run, "share": 0.0, "unique_share": 0.0}
        for run in pool.statistics["runs"]
    ]


@dataclass(frozen=True)
class Cell:
    """How much two runs share of what either has; `heat` is the share in tenths."""

    share: float
    heat: int
    n_shared: int


def overlap_matrix(statistics: dict[str, Any]) -> list[tuple[str, list[Cell]]]:
    """A row for each run of the pool, a cell for each run: the Jaccard overlap of their parts."""
    runs = statistics["runs"]
    cells = {(run["run"], run["run"]): Cell(1.0, 10, run["n"]) for run in runs}
    for pair in statistics["overlaps"]:
        cell = Cell(pair["jaccard"], round(10 * pair["jaccard"]), pair["n_shared"])
        cells[pair["a"], pair["b"]] = cells[pair["b"], pair["a"]] = cell
    return [(row["run"], [cells[row["run"], column["run"]] for column in runs]) for row in runs]
