"""Gates: listed, looked at, downloaded, and what became of their candidates online."""

from collections.abc import Mapping
from math import inf
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.charts import chart_response
from benchmarks_app.clicks.services import forget_logs, receive_logs
from benchmarks_app.language import told as worded
from benchmarks_app.models import Benchmark, Upload
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest, SiteRequest
from benchwright.errors import BenchmarkError
from benchwright.gates.reports import WRITERS, written
from scoring.gates.charts import gate_chart as chart_of
from scoring.gates.forms import GateFilterForm, OnlineLogForm, OnlineResultForm
from scoring.gates.selectors import gates_seen_by, policies_in_use, policies_seen_by
from scoring.gates.services.gating import told
from scoring.gates.services.online import arms_of, came_true, record_online_result
from scoring.gates.services.online_logs import start_reading
from scoring.gates.services.policies import plan_of
from scoring.gates.services.rehearsing import rates_told
from scoring.models import GateResult
from scoring.scores.selectors.releases import newest_release

PAGE_SIZE = 25
TYPES = {
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
    "xml": "application/xml; charset=utf-8",
}


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def gate_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Gates with filters, policies in use, and how often gates came true."""
    gates, policies = (
        gates_seen_by(request.user, benchmark),
        policies_seen_by(request.user, benchmark),
    )
    form = GateFilterForm(request.GET, policies=policies)
    page = page_of(request, form.chosen(gates), PAGE_SIZE)
    context: dict[str, Any] = {
        "page": page,
        "filters": form,
        "is_filtered": any(request.GET.get(name) for name in form.fields),
        "policies": policies_in_use(request.user, benchmark),
        "came_true": came_true(request.user, benchmark),
    }
    release = newest_release(benchmark)
    if not context["policies"] and release is not None:
        context["plan"] = plan_of(benchmark, release)
    return render(request, "scoring/gates/gate_list.html", context)


def _gate(request: HttpRequest, benchmark: Benchmark, pk: int) -> GateResult:
    return get_object_or_404(gates_seen_by(request.user, benchmark), pk=pk)


def _losses_first(check: Mapping[str, Any]) -> dict[str, Any]:
    """The check, its findings from the greatest loss to the greatest gain, unknown ones last."""

    def difference(finding: Mapping[str, Any]) -> float:
        value = finding["numbers"].get("difference")
        return inf if value is None else value

    return {**check, "findings": sorted(check["findings"], key=difference)}


def _context(request: HttpRequest, gate: GateResult) -> dict[str, Any]:
    report = told(gate, request.user)
    checks = {check["name"]: check for check in report.get("checks", [])}
    if "slices" in checks:
        checks["slices"] = _losses_first(checks["slices"])
    return {
        "gate": gate,
        "job": gate.job,
        "is_waiting": gate.state == GateResult.State.QUEUED,
        "report": report,
        "checks": checks,
        "rehearsed": rates_told(request.user, gate.policy.benchmark, gate.policy.rehearsal),
        "overall": checks["overall"]["findings"][0] if "overall" in checks else None,
        "chart": chart_of(report) if "overall" in checks else None,
        "resumed_by": GateResult.objects.filter(resumes=gate).select_related("release").first(),
        "online": [
            (online, arms_of(online))
            for online in gate.online_results.select_related("recorded_by").order_by("pk")
        ],
        "server": request.build_absolute_uri(reverse("home")).rstrip("/"),
    }


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def gate_detail(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    gate = _gate(request, benchmark, pk)
    context = _context(request, gate)
    if gate.verdict and may(request.user, Action.SUBMIT, benchmark):
        context["online_form"] = OnlineResultForm()
    return render(request, "scoring/gates/gate_detail.html", context)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def gate_state(request: SiteRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """How far a gate is; once it is decided, the page is loaded as a whole."""
    gate = _gate(request, benchmark, pk)
    response = render(
        request,
        "scoring/gates/_gate_state.html",
        {"gate": gate, "job": gate.job, "is_waiting": gate.state == GateResult.State.QUEUED},
    )
    if request.htmx and gate.state != GateResult.State.QUEUED:
        response["HX-Refresh"] = "true"
    return response


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def gate_report(request: HttpRequest, benchmark: Benchmark, pk: int, kind: str) -> HttpResponse:
    """The result as md, json or xml (JUnit)."""
    gate = _gate(request, benchmark, pk)
    report = told(gate, request.user)
    if f".{kind}" not in WRITERS or not report:
        raise Http404
    response = HttpResponse(written(report, f".{kind}"), content_type=TYPES[kind])
    response["Content-Disposition"] = f'attachment; filename="gate-{gate.pk}.{kind}"'
    return response


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def gate_chart(request: HttpRequest, benchmark: Benchmark, pk: int, format: str) -> HttpResponse:
    """Differences with their bounds, on the line of the margin."""
    report = told(_gate(request, benchmark, pk), request.user)
    if not any(check["name"] == "overall" for check in report.get("checks", [])):
        raise Http404
    return chart_response(request, chart_of(report), format)


@require_POST
@benchmark_view(Action.SUBMIT)
def gate_online(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Write down what an A/B test said."""
    gate = _gate(request, benchmark, pk)
    form = OnlineResultForm(request.POST)
    if not form.is_valid():
        context = {**_context(request, gate), "online_form": form}
        return render(request, "scoring/gates/gate_detail.html", context, status=422)
    record_online_result(gate=gate, user=request.user, **form.cleaned_data)
    messages.success(request, _("The A/B result is recorded."))
    return redirect(gate)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SUBMIT)
def gate_online_log(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Read the log of an A/B test; a job records what it says."""
    gate = _gate(request, benchmark, pk)
    form = OnlineLogForm(request.POST or None, request.FILES or None, gate=gate)
    if request.method == "POST" and form.is_valid():
        uploads: list[Upload] = []
        try:
            uploads = receive_logs(benchmark=benchmark, user=request.user, logs=form.logs())
            options = form.asked()
            job = start_reading(gate=gate, user=request.user, uploads=uploads, options=options)
        except BenchmarkError as error:
            forget_logs(uploads)
            form.add_error(None, worded(error))
        else:
            return redirect(job)
    context = {"gate": gate, "form": form}
    status = 422 if request.method == "POST" else 200
    return render(request, "scoring/gates/gate_online_log.html", context, status=status)
