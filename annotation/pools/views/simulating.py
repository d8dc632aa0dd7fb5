"""Which order finds relevant documents soonest, as a page."""

from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotation.models import Pool
from annotation.pools.forms.building import SimulationForm
from annotation.pools.services.simulating import JOB_KIND, simulation_arguments
from annotation.pools.views.building import runs_of
from benchmarks_app.charts import Chart, chart_response
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.formats.numbers import row_key
from benchwright.texts.counting import counted, percent_beside

# Labels a query at which the table looks.
MARKS = (5, 10, 20, 50, 100, 200)
HEIGHT = 320
# Three stand beside each other on a telephone.
SHORT = {"layered": "by rank", "rrf": "RRF", "rbp": "RBP", "mtf": "to front", "maxmean": "MaxMean"}
LEGEND = {"title": None, "orient": "top", "columns": 3}
SPEC = {
    "mark": {"type": "line", "interpolate": "monotone"},
    "encoding": {
        "x": {
            "field": "labels",
            "type": "quantitative",
            "title": "Labels a query",
            "axis": {"format": "d", "tickMinStep": 1},
        },
        "y": {
            "field": "share",
            "type": "quantitative",
            "title": "Relevant documents found",
            "axis": {"format": "%"},
        },
        "color": {"field": "order", "type": "nominal", "sort": None, "legend": LEGEND},
        "strokeDash": {"field": "order", "type": "nominal", "sort": None, "legend": LEGEND},
    },
}
POINTS = 120


@benchmark_view(Action.EDIT)
def pool_simulate(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    runs = runs_of(benchmark, request.user)
    qrel_sets = benchmark.qrel_sets.ready().order_by("-pk")
    job = _asked(benchmark, request.GET.get("job", ""))
    form = SimulationForm(
        request.POST or None,
        runs=runs,
        qrel_sets=qrel_sets,
        initial=_initial(job) if job else {"qrel_set": qrel_sets.first()},
    )
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            arguments = simulation_arguments(benchmark=benchmark, **form.cleaned_data)
            started = jobs.start(benchmark=benchmark, user=request.user, **arguments)
        return redirect(started)
    context = {"form": form, "is_possible": runs.exists() and qrel_sets.exists(), "job": job}
    if job:
        context |= {"result": job.result, "chart": curves(job.result), **_table(job.result)}
    status = 422 if form.errors else 200
    return render(request, "annotation/pools/pool_simulate.html", context, status=status)


@require_safe
@benchmark_view(Action.EDIT)
def pool_simulation_chart(
    request: PersonRequest, benchmark: Benchmark, pk: int, format: str
) -> HttpResponse:
    job = get_object_or_404(_done(benchmark), pk=pk)
    return chart_response(request, curves(job.result), format)


def _done(benchmark: Benchmark) -> Any:
    return Job.objects.filter(benchmark=benchmark, kind=JOB_KIND, state=Job.State.DONE)


def _asked(benchmark: Benchmark, key: str) -> Job | None:
    """The comparison that the address names, or else the newest."""
    done = _done(benchmark)
    number = row_key(key)
    return done.order_by("-pk").first() if number is None else done.filter(pk=number).first()


def _initial(job: Job) -> dict[str, Any]:
    return {key: job.parameters[key] for key in ("runs", "qrel_set", "depth", "burn_in")}


def curves(result: dict[str, Any]) -> Chart:
    """The share of the known relevant documents found after so many labels a query."""
    longest = max(map(len, result["curves"].values()))
    step = max(1, longest // POINTS)
    rows = [
        {
            "order": SHORT[order],
            "labels": n,
            "found": points[n],
            "share": _share(points[n], result["n_known"]),
        }
        for order, points in result["curves"].items()
        for n in sorted({*range(0, len(points), step), len(points) - 1})
    ]
    description = "No document is known to be relevant."
    if n_known := result["n_known"]:
        first = next(mark for mark in (20, 10, 5, 1) if mark < longest or mark == 1)
        words = [
            f"{_name(order)} {percent_beside(_at(points, first) / n_known, 0, 1, decimals=0)}%"
            for order, points in result["curves"].items()
        ]
        after = f"After {counted(first, 'label')} a query"
        description = f"{after}: {', '.join(words)} of the relevant documents."
    return Chart("Relevant documents found per label", description, SPEC, rows, height=HEIGHT)


def _table(result: dict[str, Any]) -> dict[str, Any]:
    longest = max(map(len, result["curves"].values()))
    marks = [mark for mark in MARKS if mark < longest]
    best = {mark: max(_at(points, mark) for points in result["curves"].values()) for mark in marks}
    rows = [
        {
            "order": _name(order),
            "cells": [
                {
                    "share": _share(_at(points, mark), result["n_known"]),
                    "is_best": 0 < best[mark] == _at(points, mark),
                }
                for mark in marks
            ],
        }
        for order, points in result["curves"].items()
    ]
    return {"marks": marks, "rows": rows}


def _at(counts: list[int], n: int) -> int:
    return counts[min(n, len(counts) - 1)]


def _share(n: int, of: int) -> float | None:
    return n / of if of else None


def _name(order: str) -> str:
    return str(Pool.Order(order).label)
