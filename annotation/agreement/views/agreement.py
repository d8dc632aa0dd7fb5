"""How far people agree, and where they do not."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.agreement.forms import AgreementFilterForm
from annotation.agreement.selectors.by_slice import slice_coverage as coverage_of
from annotation.agreement.services.measuring_agreement import (
    JOB_KIND,
    measuring_arguments,
    report_of,
)
from annotation.common.selectors.ledger import last_event_of, n_events_since
from annotation.common.selectors.names import pseudonyms_in
from annotation.models import Pool
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, Query, User
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchwright.agreement import COEFFICIENTS
from benchwright.agreement.measured import band


@never_cache
@require_safe
@benchmark_view(Action.ADJUDICATE)
def agreement(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """What all labels say of how far people agree, as of an event."""
    form = AgreementFilterForm(request.GET or None, benchmark=benchmark)
    filters = form.filters
    last = last_event_of(benchmark)
    report = report_of(benchmark, filters, last) if last else None
    context = {"form": form, "has_judgments": bool(last), "running": _running(benchmark)}
    if report is not None:
        n_newer = n_events_since(benchmark, report["as_of"]) if report["as_of"] != last else 0
        context |= {"n_newer": n_newer, **_shown(request, benchmark, report)}
    return render(request, "annotation/agreement/agreement.html", context)


@require_POST
@benchmark_view(Action.ADJUDICATE)
def agreement_compute(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Measure anew, in the background."""
    filters = AgreementFilterForm(request.POST, benchmark=benchmark).filters
    with transaction.atomic():
        arguments = measuring_arguments(benchmark=benchmark, filters=filters)
        job = jobs.start(benchmark=benchmark, user=request.user, **arguments)
    if may(request.user, Action.EDIT, benchmark):
        return redirect(job)
    return redirect(request.path.removesuffix("compute/"))


# --- which report ------------------------------------------------------------------------------


def _running(benchmark: Benchmark) -> Job | None:
    states = [Job.State.QUEUED, Job.State.RUNNING]
    under_way = Job.objects.filter(benchmark=benchmark, kind=JOB_KIND, state__in=states)
    return under_way.order_by("-pk").first()


# --- as the page shows it ----------------------------------------------------------------------


def _shown(request: HttpRequest, benchmark: Benchmark, report: dict[str, Any]) -> dict[str, Any]:
    has_names = may(request.user, Action.EDIT, benchmark)
    name = _namer(benchmark, report, has_names=has_names)
    queries = [row["query"] for row in report["queries"] + report["advice"]]
    qids = dict(Query.objects.filter(pk__in=queries).values_list("pk", "qid"))
    pools = dict(Pool.objects.filter(benchmark=benchmark).values_list("pk", "name"))
    overall = report["overall"]
    alpha = overall["alpha_ordinal"]["value"]
    return {
        "report": report,
        "has_names": has_names,
        "coefficients": [(label, note, overall[key]) for key, label, note in COEFFICIENTS],
        "band": None if alpha is None else band(alpha),
        "confusion": _heat(report["confusion"]),
        "matrix": _matrix(report["pairs"], name),
        "raters": [{**row, "name": name(row["rater"])} for row in report["raters"]],
        "queries": [{**row, "qid": qids.get(row["query"], "")} for row in report["queries"]],
        "pools": [{**row, "name": pools.get(row["name"], "")} for row in report["pools"]],
        "gold": [{**row, "name": name(row["rater"])} for row in report["gold"]],
        "repeats": [{**row, "name": name(row["rater"])} for row in report["repeats"]],
        "advice": [
            {**row, "name": name(row["rater"]), "qid": qids.get(row["query"], "")}
            for row in report["advice"]
        ],
    }


def _namer(
    benchmark: Benchmark, report: dict[str, Any], *, has_names: bool
) -> Callable[[list[Any]], str]:
    """A function of (actor, name in a file) that says who it is to who is looking."""
    if not has_names:
        pseudonym = pseudonyms_in(benchmark)
        return lambda rater: pseudonym(*rater)
    rows = report["raters"] + report["gold"] + report["repeats"] + report["advice"]
    people = User.objects.in_bulk({row["rater"][0] for row in rows})
    return lambda rater: rater[1] or str(people.get(rater[0], "somebody who left"))


def _heat(confusion: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each grade of the consensus; `heat` is the share in tenths."""
    return [
        {
            "grade": grade,
            "n": sum(counts),
            "cells": [
                {"n": n, "share": share, "heat": round(10 * share)}
                for n, share in zip(counts, shares, strict=True)
            ],
        }
        for grade, counts, shares in zip(
            confusion["scale"], confusion["counts"], confusion["shares"], strict=True
        )
    ]


def _matrix(pairs: dict[str, Any], name: Callable[[list[Any]], str]) -> dict[str, Any]:
    """Kappas of all pairs of people: (name, cells), a cell being empty for oneself."""
    names = [name(rater) for rater in pairs["raters"]]
    cells: list[list[dict[str, Any] | None]] = [[None] * len(names) for _ in names]
    for cell in pairs["cells"]:
        kappa = cell["kappa"]
        shade = {**kappa, "heat": max(0, round(10 * (kappa["value"] or 0)))}
        cells[cell["a"]][cell["b"]] = cells[cell["b"]][cell["a"]] = shade
    return {
        "names": names,
        "rows": list(zip(names, cells, strict=True)),
        "n_left_out": pairs["n_left_out"],
    }


@require_safe
@benchmark_view(Action.SEE_POOLS)
def slice_coverage(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """How far each slice is judged; a page of its own without htmx."""
    name = request.GET.get("slice", "")
    rows = [row for row in coverage_of(benchmark) if not name or row.name == name]
    template = "_slice_coverage.html" if request.htmx else "slice_coverage.html"
    return render(request, f"annotation/agreement/{template}", {"rows": rows})
