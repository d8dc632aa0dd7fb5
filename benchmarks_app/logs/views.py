"""Query logs: dropped, mapped, read, looked at, and sampled."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import (
    require_GET,
    require_http_methods,
    require_POST,
    require_safe,
)

from benchmarks_app.charts import chart_response
from benchmarks_app.logs import charts, selectors
from benchmarks_app.logs.forms import LogColumnsForm, LogUploadForm, SampleForm
from benchmarks_app.logs.services import importing_logs, sampling
from benchmarks_app.models import Benchmark, Job, PendingLog, QueryLog
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from benchwright.logs.columns import LogColumns
from benchwright.logs.masking import KIND_LABELS
from benchwright.logs.sampling import Plan
from benchwright.recipes.sampling import Weighting
from benchwright.slices.frequency import (
    HEAD_SHARE,
    TAIL_SHARE,
    FrequencyCuts,
    FrequencyError,
    frequency_cuts,
)
from benchwright.statistics.descriptive import Z95

# Shares in the address of a chart are of ten thousand.
PER = 10_000
LEFT_OUT = {
    "empty": "no query in it",
    "uncounted": "a count of 0",
    "too_long": "too long for a query",
    "unreadable": "could not be read",
}


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def log_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    form = LogUploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            pending = importing_logs.receive_log(
                benchmark=benchmark, user=request.user, file=form.cleaned_data["file"]
            )
        except BenchmarkError as error:
            form.add_error("file", str(error))
        else:
            return redirect("log-columns", benchmark.slug, pending.pk)
    context = {
        "form": form,
        "page": page_of(request, selectors.logs_of(benchmark)),
        "waiting": selectors.pending_logs_of(benchmark),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "benchmarks_app/logs/log_list.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def log_columns(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Which column is what, with the first rows as they would be kept."""
    pending = _pending(benchmark, pk)
    head = importing_logs.head_of(pending.upload)
    table = head.table
    columns = _detected(head)
    form = LogColumnsForm(
        request.POST or None,
        table=table,
        columns=columns,
        initial={"name": importing_logs.free_name(pending.upload)},
    )
    is_bad = request.method == "POST" and not form.is_valid()
    if request.method == "POST" and not is_bad and "preview" not in request.POST:
        try:
            job = importing_logs.start_log(
                pending=pending, user=request.user, reading=form.reading()
            )
        except BenchmarkError as error:
            form.add_error(None, str(error))
            is_bad = True
        else:
            return redirect(job)
    context = {"form": form, "pending": pending, "table": table, **_head(form, head, columns)}
    return render(
        request, "benchmarks_app/logs/log_columns.html", context, status=422 if is_bad else 200
    )


def _pending(benchmark: Benchmark, pk: int) -> PendingLog:
    return get_object_or_404(selectors.pending_logs_of(benchmark), pk=pk)


def _detected(head: importing_logs.LogHead) -> LogColumns | None:
    try:
        return importing_logs.columns_of(head)
    except BenchmarkError:
        return None


def _head(
    form: LogColumnsForm, head: importing_logs.LogHead, columns: LogColumns | None
) -> dict[str, Any]:
    """The first rows, masked as the form says."""
    kinds, regions = tuple(KIND_LABELS), tuple(settings.LOG_REGIONS)
    if form.is_bound and form.is_valid():
        columns, kinds = form.columns(), tuple(form.cleaned_data["kinds"])
        regions = form.cleaned_data["regions"]
    roles = columns.named if columns else {}
    names = list(head.table.columns)
    rows = selectors.shown_rows(head.rows, names, roles, kinds, regions)
    return {"rows": rows, "headers": selectors.headers(names, roles)}


@require_POST
@benchmark_view(Action.EDIT)
def log_discard(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    importing_logs.discard_pending(pending=_pending(benchmark, pk), user=request.user)
    messages.success(request, "The file is deleted.")
    return redirect("log-list", benchmark.slug)


@require_safe
@benchmark_view(Action.EDIT)
def log_detail(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    log = _log(benchmark, pk)
    families = selectors.log_families(log)
    cuts, why_not = _cuts(families.counts, HEAD_SHARE, TAIL_SHARE)
    context = {
        "log": log,
        "cuts": cuts,
        "why_not": why_not,
        "bands": _bands(cuts),
        "curve": charts.described(cuts, families.n_queries, families.counts),
        "curve_height": charts.HEIGHT,
        "curve_title": charts.TITLE,
        "shares": (round(HEAD_SHARE * PER), round(TAIL_SHARE * PER)),
        "queries": selectors.most_frequent(log),
        "masked": [(KIND_LABELS.get(kind, kind), n) for kind, n in log.masked.items()],
        "left_out": [(LEFT_OUT.get(why, why), n) for why, n in log.facts["left_out"].items()],
        "samples": selectors.samples_of(benchmark).filter(log=log),
    }
    return render(request, "benchmarks_app/logs/log_detail.html", context)


def _log(benchmark: Benchmark, pk: int) -> QueryLog:
    return get_object_or_404(selectors.logs_of(benchmark), pk=pk)


def _cuts(counts: Any, head: float, tail: float) -> tuple[FrequencyCuts | None, str]:
    try:
        return frequency_cuts(counts, head_share=head, tail_share=tail), ""
    except FrequencyError as error:
        return None, str(error)


@dataclass(frozen=True)
class Band:
    name: str
    n_queries: int
    n_traffic: int
    query_share: float
    traffic_share: float


def _bands(cuts: FrequencyCuts | None) -> list[Band]:
    if cuts is None:
        return []
    return [
        Band(
            str(band),
            part.n_queries,
            part.n_traffic,
            part.n_queries / cuts.n_queries,
            part.n_traffic / cuts.n_traffic,
        )
        for band, part in cuts.parts.items()
    ]


@require_safe
@benchmark_view(Action.EDIT)
def log_curve(
    request: PersonRequest, benchmark: Benchmark, pk: int, head: int, tail: int, format: str
) -> HttpResponse:
    counts = selectors.log_families(_log(benchmark, pk)).counts
    chart = charts.frequency_chart(counts, head_share=head / PER, tail_share=tail / PER)
    return chart_response(request, chart, format)


# --- samples -------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def sample_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    logs = selectors.logs_of(benchmark)
    first = logs.first()
    if first is None:
        status = 422 if request.method == "POST" else 200
        return render(request, "benchmarks_app/logs/sample_new.html", {"form": None}, status=status)
    form = SampleForm(
        request.POST or None, logs=logs, initial={"log": request.GET.get("log") or first.pk}
    )
    is_preview = "preview" in request.POST
    if request.method == "POST" and form.is_valid() and not is_preview:
        job = _started(request, form)
        if job:
            return redirect(job)
    context: dict[str, Any] = {"form": form}
    if form.is_bound and not form.errors:
        context |= previewed(form)
    elif not form.is_bound:
        context |= previewed(SampleForm(_initial(form), logs=logs))
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/logs/sample_new.html", context, status=status)


def _initial(form: SampleForm) -> dict[str, Any]:
    return {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}


def _started(request: PersonRequest, form: SampleForm) -> Job | None:
    try:
        return sampling.start_sample(
            log=form.cleaned_data["log"],
            user=request.user,
            design=form.design(),
            seed=form.cleaned_data["seed"],
        )
    except BenchmarkError as error:
        form.add_error(None, str(error))
        return None


@require_GET
@benchmark_view(Action.EDIT)
def sample_preview(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """What the form that is being filled in would draw."""
    form = SampleForm(request.GET, logs=selectors.logs_of(benchmark))
    return render(request, "benchmarks_app/logs/_sample_preview.html", previewed(form))


@dataclass(frozen=True)
class Shown:
    """A stratum of the preview, with its shares."""

    name: str
    n_families: int
    n_drawn: int
    probability: float
    query_share: float
    traffic_share: float


def previewed(form: SampleForm) -> dict[str, Any]:
    """What the preview shows: the plan and its strata, or why there is none."""
    if not form.is_valid():
        errors = [str(error) for of in form.errors.values() for error in of]
        return {"plan": None, "errors": errors}
    log, design = form.cleaned_data["log"], form.design()
    try:
        plan = sampling.plan_of(log, design)
    except BenchmarkError as error:
        return {"plan": None, "errors": [str(error)]}
    families = selectors.log_families(log)
    cuts, _ = _cuts(families.counts, design.head_share, design.tail_share)
    return {
        "plan": plan,
        "strata": _shown(plan),
        "log": log,
        "errors": [],
        "is_traffic": design.weighting is Weighting.TRAFFIC,
        "traffic_width": _half_width(plan.traffic_error),
        "queries_width": _half_width(plan.queries_error),
        "shares": (round(design.head_share * PER), round(design.tail_share * PER)),
        "curve": charts.described(cuts, families.n_queries, families.counts),
        "curve_height": charts.HEIGHT,
        "curve_title": charts.TITLE,
    }


def _half_width(error: float) -> str:
    return f"±{Z95 * error:.3f}"


def _shown(plan: Plan) -> list[Shown]:
    return [
        Shown(
            stratum.name,
            stratum.n_families,
            stratum.n_drawn,
            stratum.inclusion_probability,
            stratum.n_queries / plan.n_queries,
            stratum.n_traffic / plan.n_traffic,
        )
        for stratum in plan.strata
    ]
