"""The audit log: of a benchmark for its keepers, of the site for who manages it."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks_app.audit.forms import AuditForm
from benchmarks_app.common.selectors import audit as selectors
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view, site_view
from benchmarks_app.requests import PersonRequest


@never_cache
@require_safe
@benchmark_view(Action.EDIT)
def activity_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    return _log(request, benchmark, "benchmarks_app/audit/activity_list.html")


@never_cache
@require_safe
@benchmark_view(Action.EDIT)
def activity_export(request: PersonRequest, benchmark: Benchmark) -> StreamingHttpResponse:
    return _file(request, benchmark)


@never_cache
@require_safe
@site_view
def audit_log(request: PersonRequest) -> HttpResponse:
    return _log(request, None, "benchmarks_app/audit/audit_log.html")


@never_cache
@require_safe
@site_view
def audit_export(request: PersonRequest) -> StreamingHttpResponse:
    return _file(request, None)


def _log(request: HttpRequest, benchmark: Benchmark | None, template: str) -> HttpResponse:
    form = AuditForm(request.GET)
    context: dict[str, Any] = {
        "form": form,
        "is_narrowed": any(request.GET.get(f) for f in form.fields),
    }
    if form.is_valid():
        events = selectors.events_asked_for(benchmark, form.asked())
        before = request.GET.get("before", "")
        page = selectors.page_before(events, selectors.Key.read(before), selectors.PAGE_SIZE)
        context |= {
            "events": page.events,
            "next_key": page.next_key,
            "is_first": not before,
            "people": selectors.people_named(page.events),
        }
    return render(request, template, context, status=200 if form.is_valid() else 422)


def _file(request: PersonRequest, benchmark: Benchmark | None) -> StreamingHttpResponse:
    """The events as a file, sent while it is read."""
    form, kind = AuditForm(request.GET), request.GET.get("form", "csv")
    if kind not in audit.FORMATS or not form.is_valid():
        raise Http404
    pieces = audit.export_events(
        benchmark=benchmark, filters=form.asked(), actor=request.user, form=kind
    )
    name = f"{benchmark.slug if benchmark else 'site'}-audit.{kind}"
    return StreamingHttpResponse(
        pieces,
        content_type=audit.CONTENT_TYPES[kind],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
