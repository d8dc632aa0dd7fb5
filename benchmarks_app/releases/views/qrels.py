"""Sets of qrels that are not released yet; for those who keep the benchmark."""

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.common.selectors.qrel_sets import merged_before
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, QrelSet
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.releases.downloads import qrels_response
from benchmarks_app.releases.forms import QrelMapForm
from benchmarks_app.releases.services.qrel_sets import delete_qrels, map_qrels, users_of
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError


@require_safe
@benchmark_view(Action.EDIT)
def qrels_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    sets = QrelSet.objects.ready().filter(benchmark=benchmark).order_by("-created_at", "-pk")
    return render(
        request, "benchmarks_app/releases/qrels_list.html", {"page": page_of(request, sets)}
    )


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def qrels_map(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Map an imported set to other grades, as a set of its own; or delete it."""
    qrel_set = get_object_or_404(QrelSet.objects.ready(), benchmark=benchmark, pk=pk)
    is_posted = request.method == "POST"
    form = QrelMapForm(request.POST if is_posted else None, qrel_set=qrel_set)
    if is_posted and "map" in request.POST and form.is_valid():
        try:
            mapped = map_qrels(qrel_set=qrel_set, actor=request.user, **form.options())
        except BenchmarkError as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request,
                f"'{mapped}' is made: {mapped.n_relevant:,} of {mapped.n_qrels:,} are relevant.",
            )
            return redirect("qrels-list", benchmark.slug)
    context = {
        "set": qrel_set,
        "form": form,
        "users": users_of(qrel_set),
        "merged_before": merged_before(qrel_set),
    }
    status = 422 if is_posted and form.errors else 200
    return render(request, "benchmarks_app/releases/qrels_map.html", context, status=status)


@require_POST
@benchmark_view(Action.EDIT)
def qrels_delete(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    qrel_set = get_object_or_404(QrelSet.objects.ready(), benchmark=benchmark, pk=pk)
    delete_qrels(qrel_set=qrel_set, actor=request.user)
    messages.success(request, f"'{qrel_set}' is deleted.")
    return redirect("qrels-list", benchmark.slug)


@require_safe
@benchmark_view(Action.EDIT)
def qrels_download(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponseBase:
    qrel_set = get_object_or_404(QrelSet.objects.ready(), benchmark=benchmark, pk=pk)
    audit.record(
        actor=request.user, action="download-qrels", benchmark=benchmark, target=qrel_set.name
    )
    return qrels_response(request, qrel_set, name=f"{benchmark.slug}-{pk}.qrels")
