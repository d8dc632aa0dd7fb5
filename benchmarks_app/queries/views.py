"""Queries, and documents of the corpus."""

from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from benchmarks_app.common.selectors.reading import benchmark_documents, passages_of
from benchmarks_app.common.services.exposure import is_withheld, record_read
from benchmarks_app.models import Benchmark, QrelSet
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may


@require_safe
@benchmark_view(Action.VIEW)
def query_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    wanted = request.GET.get("q", "").strip()
    queries = benchmark.queries.committed().select_related("family").order_by("pk")
    if wanted:
        queries = queries.filter(Q(text__icontains=wanted) | Q(qid=wanted))
    queries = queries.annotate(n_wordings=Count("family__queries"))
    context = {"page": page_of(request, queries), "wanted": wanted}
    return render(request, "benchmarks_app/queries/query_list.html", context)


@require_safe
@benchmark_view(Action.VIEW)
def query_detail(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    query = get_object_or_404(benchmark.queries.committed().select_related("family"), pk=pk)
    wordings = query.family.queries.committed().exclude(pk=pk)
    # Grades that were never released are for those who keep the benchmark.
    sets = QrelSet.objects.ready().filter(benchmark=benchmark)
    may_edit = may(request.user, Action.EDIT, benchmark)
    counted = sets.annotate(
        n_judged=Count("qrels", filter=Q(qrels__query=query)),
        n_positive=Count("qrels", filter=Q(qrels__query=query, qrels__grade__gt=0)),
    )
    if may_edit and is_withheld(benchmark, query):
        record_read(actor=request.user, benchmark=benchmark, what=f"query {query.qid}")
    context = {"query": query, "wordings": wordings, "sets": counted if may_edit else []}
    return render(request, "benchmarks_app/queries/query_detail.html", context)


@require_safe
@benchmark_view(Action.VIEW)
def document_detail(request: HttpRequest, benchmark: Benchmark, docid: str) -> HttpResponse:
    document = benchmark_documents(benchmark, [docid]).get(docid)
    if document is None:
        raise Http404
    context = {"document": document, "passages": passages_of(benchmark, docid)}
    return render(request, "benchmarks_app/queries/document_detail.html", context)
