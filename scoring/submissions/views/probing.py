"""Submissions that look made to read hidden grades, for who keeps the benchmark."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.leaks.probing import FEW_QUERIES, NEAR
from scoring.submissions.selectors.submissions import n_open_flags, probing_flags
from scoring.submissions.services import probing

STATES = {"open": False, "settled": True}


@require_safe
@benchmark_view(Action.EDIT)
def probing_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    state = request.GET.get("state", "")
    flags = probing_flags(benchmark, is_settled=STATES.get(state))
    context = {
        "page": page_of(request, flags, 25),
        "state": state,
        "n_open": n_open_flags(benchmark),
        "few": FEW_QUERIES,
        "near": NEAR,
    }
    return render(request, "scoring/submissions/probing_list.html", context)


@require_POST
@benchmark_view(Action.EDIT)
def probing_settle(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    flag = get_object_or_404(probing_flags(benchmark), pk=pk)
    probing.settle(flag=flag, by=request.user)
    messages.success(request, f"The flag of {flag.submission} is settled.")
    return redirect("scoring:probing-list", benchmark.slug)
