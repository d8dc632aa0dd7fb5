"""Judging by slice: a panel that other pages ask for."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.agreement.selectors.by_slice import slice_coverage as coverage_of
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest


@require_safe
@benchmark_view(Action.SEE_POOLS)
def slice_coverage(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """How far each slice is judged; a page of its own without htmx."""
    wanted = request.GET.get("slice", "")
    rows = [row for row in coverage_of(benchmark) if not wanted or row.name == wanted]
    template = "_slice_coverage.html" if request.htmx else "slice_coverage.html"
    return render(request, f"annotation/agreement/{template}", {"rows": rows})
