"""Sets of qrels that are not released yet; for those who keep the benchmark."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from benchmarks_app import selectors
from benchmarks_app.models import Benchmark, QrelSet
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.services import audit
from benchmarks_app.services.releasing import trec_lines


@require_safe
@benchmark_view(Action.EDIT)
def qrels_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    sets = QrelSet.objects.ready().filter(benchmark=benchmark).order_by("-created_at", "-pk")
    return render(request, "benchmarks_app/qrels_list.html", {"page": page_of(request, sets)})


@require_safe
@benchmark_view(Action.EDIT)
def qrels_download(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    found = get_object_or_404(QrelSet.objects.ready(), benchmark=benchmark, pk=pk)
    audit.record(
        actor=request.user, action="download-qrels", benchmark=benchmark, target=found.name
    )
    return StreamingHttpResponse(
        trec_lines(selectors.qrels_of(found)),
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{benchmark.slug}-{pk}.qrels"'},
    )
