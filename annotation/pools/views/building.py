"""Building a pool: what it would be like first, and then the job that does it."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render

from annotation.models import Pool
from annotation.pools.forms.building import PoolForm
from annotation.pools.services import previewing
from annotation.pools.services.pooling import pool_arguments
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, Run, User
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from benchwright.formats.numbers import row_key
from benchwright.pools.preview import measured_elsewhere

MOST_ALIKE_SHOWN = 5
ORIGINS = {
    "random": "drawn at random",
    "manual": "added by hand",
    "carried": "judged before",
    "candidate": "from the list",
}


@benchmark_view(Action.EDIT)
def pool_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    runs = runs_of(benchmark, request.user)
    is_preview = "preview" in request.POST
    asked = _asked(request, benchmark)
    form = PoolForm(
        request.POST or (QueryDict(asked.parameters["form"], mutable=True) if asked else None),
        benchmark=benchmark,
        runs=runs,
        is_preview=is_preview or asked is not None,
        initial=_initial(request, benchmark),
    )
    context: dict[str, Any] = {"form": form, "has_runs": runs.exists()}
    if asked:
        context |= shown_preview(asked.result["preview"])
    if request.method != "POST":
        return render(request, "annotation/pools/pool_new.html", context)
    if not form.is_valid():
        return render(request, "annotation/pools/pool_new.html", context, status=422)
    if is_preview:
        return _preview(request, benchmark, form, context)
    with transaction.atomic():
        arguments = pool_arguments(benchmark=benchmark, **form.arguments())
        job = jobs.start(benchmark=benchmark, user=request.user, **arguments)
    return redirect(job)


def runs_of(benchmark: Benchmark, user: User) -> QuerySet[Run]:
    return Run.objects.visible_to(user).filter(benchmark=benchmark).order_by("name")


def _asked(request: PersonRequest, benchmark: Benchmark) -> Job | None:
    """The finished job of a preview that the address names."""
    key = row_key(request.GET.get("preview", ""))
    if request.method == "POST" or key is None:
        return None
    done = Job.objects.filter(benchmark=benchmark, kind=previewing.JOB_KIND, state=Job.State.DONE)
    return done.filter(pk=key, created_by=request.user).first()


def _initial(request: PersonRequest, benchmark: Benchmark) -> dict[str, Any]:
    """A form that is filled in for a list, or for runs, where the address names some."""
    chosen = [key for run in request.GET.getlist("run") if (key := row_key(run)) is not None]
    if chosen:
        return {"runs": runs_of(benchmark, request.user).filter(pk__in=chosen)}
    key = row_key(request.GET.get("list", ""))
    listed = key and benchmark.candidate_lists.filter(pk=key).first()
    if not listed:
        return {}
    return {
        "candidates": listed,
        "strategy": Pool.Strategy.TOP_UP,
        "name": f"top-up: {listed}"[:120],
        "control": 0,
    }


def _preview(
    request: PersonRequest, benchmark: Benchmark, form: PoolForm, context: dict[str, Any]
) -> HttpResponse:
    """The page with the preview on it, or the job that makes it where that takes a while."""
    arguments = {**form.arguments(), "name": form.cleaned_data["name"] or "preview"}
    parameters = pool_arguments(benchmark=benchmark, **arguments)["parameters"]
    if previewing.takes_long(benchmark, parameters):
        with transaction.atomic():
            job = previewing.start_preview(
                benchmark=benchmark,
                user=request.user,
                parameters=parameters,
                form=request.POST.urlencode(),
            )
        return redirect(job)
    try:
        context |= shown_preview(previewing.preview_of(benchmark, parameters))
    except BenchmarkError as error:
        form.add_error(None, str(error))
        return render(request, "annotation/pools/pool_new.html", context, status=422)
    return render(request, "annotation/pools/pool_new.html", context)


def shown_preview(found: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of a preview, the most alike runs first."""
    alike = sorted(
        (pair for pair in found["overlaps"] if pair["rbo"] is not None),
        key=lambda pair: -pair["rbo"],
    )
    runs = [{**run, "left_out": found["judged_left_out"][run["run"]]} for run in found["runs"]]
    found = {**found, **_notes(found)}
    shown: dict[str, Any] = {"preview": found, "alike": alike[:MOST_ALIKE_SHOWN], "runs": runs}
    if runs:
        names = ("systems", "depth", "documents", "share")
        line = measured_elsewhere(len(runs), found["reach"])
        shown["elsewhere"] = dict(zip(names, line, strict=True))
    return shown


def _notes(facts: dict[str, Any]) -> dict[str, str]:
    """What stands below the figures of a preview."""
    sizes = facts["per_query"]
    extras = [
        f"{facts['origins'][origin]:,} {words}"
        for origin, words in ORIGINS.items()
        if origin in facts["origins"]
    ]
    doubled = f"{facts['n_doubles']:,} documents are graded by one more"
    had = f"; {facts['n_without']:,} have their labels already" if facts["n_without"] else ""
    notes = {
        "sizes_note": f"{sizes['min']} to {sizes['max']} a query, median {sizes['median']:g}"
        + "".join(f"; {extra}" for extra in extras),
        "labels_note": doubled + had,
        "hours_note": f"at {facts['seconds']:g} seconds a label",
    }
    if facts["judged_new_least"] is not None:
        least = f"{facts['judged_new_least']:.2f}"
        notes["new_note"] = (
            f"of the first ten, by depth {facts['reach']}, each run left out; least {least}"
        )
    return notes
