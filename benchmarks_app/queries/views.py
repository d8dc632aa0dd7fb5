"""Queries, and documents of the corpus."""

from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks_app.common.selectors.images import images_shown
from benchmarks_app.common.selectors.reading import benchmark_documents, passages_of
from benchmarks_app.common.services.exposure import is_withheld, record_read
from benchmarks_app.models import Benchmark, QrelSet
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.queries.forms import DrawForm
from benchmarks_app.queries.selectors import families_to_draw, queries_in_draw, queries_with
from benchmarks_app.queries.services import draw_families
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from benchwright.estimation.drawing import frame_of


@require_safe
@benchmark_view(Action.VIEW)
def query_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    words = request.GET.get("q", "").strip()
    seen = Q(family__queries__staged_by=None)
    queries = queries_with(benchmark, words).annotate(
        n_wordings=Count("family__queries", filter=seen)
    )
    context = {"page": page_of(request, queries), "wanted": words}
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
    context = {
        "document": document,
        "passages": passages_of(benchmark, docid),
        "images": images_shown(benchmark, [document])[docid],
    }
    return render(request, "benchmarks_app/queries/document_detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def query_draw_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """The draws of families for people's labels, and the form that draws more."""
    form = DrawForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            draw = draw_families(benchmark=benchmark, user=request.user, **form.cleaned_data)
        except BenchmarkError as error:
            form.add_error("n", str(error))
        else:
            messages.success(request, f"Drawn: {draw}.")
            return redirect("query-draw-list", benchmark.slug)
    families = families_to_draw(benchmark)
    context = {
        "form": form,
        "draws": benchmark.query_draws.select_related("created_by").order_by("-pk"),
        "n_queries": len(families),
        "n_families": len(set(families.values())),
        "frame": frame_of(set(families.values())),
    }
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/queries/query_draw_list.html", context, status=status)


@require_safe
@benchmark_view(Action.EDIT)
def query_draw_queries(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The queries of a draw as they are now, family by family in the order drawn."""
    draw = get_object_or_404(benchmark.query_draws, pk=pk)
    lines = [f"{qid}\t{family}" for qid, family in queries_in_draw(draw)]
    text = "\n".join(["query-id\tfamily", *lines, ""])
    response = HttpResponse(text, content_type="text/tab-separated-values; charset=utf-8")
    name = f"{benchmark.slug}-drawn-{draw.n_drawn}.tsv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
