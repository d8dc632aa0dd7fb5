"""A pool at work: how far it is, what its labels tell, who brought what."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.agreement.selectors.careless import CarelessSign, careless_signs_in
from annotation.agreement.selectors.publication import publication_of
from annotation.common.forms import QrelsForm
from annotation.common.selectors import pools as selectors
from annotation.models import Pool, Question
from annotation.pools.charts import CHARTS
from annotation.pools.forms.people import PoolStateForm
from annotation.pools.selectors import due_note, people_of, projection_of
from annotation.pools.services.pooling import set_pool_state
from annotation.pools.services.watching import signals_of
from benchmarks_app.charts import Chart, chart_response
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchwright.progress.signals import stop_signal
from benchwright.texts.counting import counted

PAGE_SIZE = 25


@require_safe
@benchmark_view(Action.SEE_POOLS)
def pool_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    page = page_of(request, selectors.pools_of(benchmark), PAGE_SIZE)
    n_runs = Run.objects.visible_to(request.user).filter(benchmark=benchmark).count()
    return render(request, "annotation/pools/pool_list.html", {"page": page, "n_runs": n_runs})


# Fewer systems leave a new one with more than a third of its top 10 unjudged.
FEW_RUNS = 3
POOLS_ON_OVERVIEW = 5


@require_safe
@benchmark_view(Action.SEE_POOLS)
def pool_detail(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    pool = _pool(benchmark, pk)
    context = {
        "pool": pool,
        "signs": _signs(request, pool),
        "matrix": overlap_matrix(pool.statistics),
        "runs": _contributions(pool),
        "has_few_runs": len(pool.statistics["runs"]) < FEW_RUNS and not pool.is_for_estimates,
        "form": QrelsForm(benchmark=benchmark),
        "publication": publication_of(benchmark),
        "may_spare": pool.campaigns.exists() and not pool.is_for_estimates,
        **_watched(request, pool, has_charts=True),
    }
    return render(request, "annotation/pools/pool_detail.html", context)


@require_safe
@benchmark_view(Action.SEE_POOLS)
def pool_progress(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The part of the pool's page that changes while people judge."""
    pool = _pool(benchmark, pk)
    context = {**_watched(request, pool, has_charts=False), "signs": _signs(request, pool)}
    return render(request, "annotation/pools/_pool_progress.html", context)


@require_safe
@benchmark_view(Action.SEE_POOLS)
def pool_charts(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The charts of a large pool, once its labels are read."""
    context = _watched(request, _pool(benchmark, pk), has_charts=True)
    return render(request, "annotation/pools/_pool_charts.html", context)


@require_safe
@benchmark_view(Action.SEE_POOLS)
def pool_summary(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Hours left and the newest open pool's labels, for the benchmark's overview."""
    open_pools = Pool.objects.open().filter(benchmark=benchmark).select_related("benchmark")
    watched = [
        _watched(request, pool, has_charts=False)
        for pool in open_pools.order_by("-pk")[:POOLS_ON_OVERVIEW]
    ]
    newest = watched[0] if watched else {}
    has_labels = newest.get("signals") and newest["signals"]["n_labels"]
    questions = Question.objects.filter(entry__pool__benchmark=benchmark, answered_at=None)
    context = {
        "watched": watched,
        "n_questions": questions.count(),
        "hours_left": sum(each["progress"].hours_left for each in watched),
        "charts": _charts(newest, ["labels-given"]) if has_labels else [],
    }
    return render(request, "annotation/pools/_pool_summary.html", context)


@require_safe
@benchmark_view(Action.SEE_POOLS)
def pool_chart(
    request: PersonRequest, benchmark: Benchmark, pk: int, chart: str, format: str
) -> HttpResponse:
    pool = _pool(benchmark, pk)
    signals = signals_of(pool, request.user) if chart in CHARTS else None
    if signals is None:
        raise Http404
    progress = selectors.pool_progress(pool, signals["seconds"])
    return chart_response(request, CHARTS[chart](pool, progress, signals, timezone.now()), format)


@require_POST
@benchmark_view(Action.EDIT)
def pool_state(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    pool = _pool(benchmark, pk)
    form = PoolStateForm(request.POST)
    if form.is_valid():
        pool = set_pool_state(pool=pool, state=form.cleaned_data["state"], actor=request.user)
        messages.success(request, f"The pool is {pool.get_state_display().lower()} now.")
    else:
        messages.error(request, "A pool can be open, paused or closed.")
    return redirect(pool)


def _pool(benchmark: Benchmark, pk: int) -> Pool:
    built = Pool.objects.built().select_related("benchmark", "created_by")
    return get_object_or_404(built, benchmark=benchmark, pk=pk)


def _signs(request: PersonRequest, pool: Pool) -> list[CarelessSign]:
    """They are for who asks a person about them, and name them."""
    return careless_signs_in(pool) if may(request.user, Action.EDIT, pool.benchmark) else []


def _watched(request: PersonRequest, pool: Pool, *, has_charts: bool) -> dict[str, Any]:
    """What a pool's page and its parts show; `signals` are None until the labels are read."""
    signals = signals_of(pool, request.user)
    progress = selectors.pool_progress(pool, signals["seconds"] if signals else None)
    now = timezone.now()
    due = selectors.due_of(pool, now.date())
    watched = {"pool": pool, "progress": progress, "signals": signals, "due": due}
    if signals is None:
        return {**watched, "due_note": due_note(due, progress, None) if due else ""}
    projection = projection_of(progress, signals, now)
    return {
        **watched,
        "due_note": due_note(due, progress, projection) if due else "",
        "people": people_of(signals, pool.benchmark, request.user),
        "stop": None if pool.is_for_estimates else stop_signal(signals),
        "projection": projection,
        "extra_note": counted(signals["n_extra"], "extra label") if signals["n_extra"] else "",
        "as_of": datetime.fromisoformat(signals["at"]),
        "charts": _charts(watched, CHARTS) if has_charts and signals["n_labels"] else [],
    }


def _charts(watched: dict[str, Any], names: Iterable[str]) -> list[tuple[str, Chart]]:
    """(address of its SVG, chart) for each name; nothing is drawn yet."""
    pool, progress, signals = watched["pool"], watched["progress"], watched["signals"]
    now = timezone.now()
    return [
        (
            reverse("annotation:pool-chart", args=[pool.benchmark.slug, pool.pk, name, "svg"]),
            CHARTS[name](pool, progress, signals, now),
        )
        for name in names
    ]


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
