"""What was judged, by whom: the list, one pair's history, exports, labels from outside."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.agreement.selectors.publication import publication_of
from annotation.common.forms import QrelsForm
from annotation.common.selectors import stale
from annotation.judging.services.rejudging import offer_rejudging
from annotation.labels.forms.ledger import LabelsImportForm, RatersForm
from annotation.labels.selectors import pairs
from annotation.labels.services.exporting_judgments import CONTENT_TYPES, export_judgments
from annotation.labels.services.importing_labels import raters_in, start_import
from annotation.labels.services.publishing import publishing_arguments
from annotation.models import Judgment, Pool
from benchmarks_app.collections.services.uploading import receive_upload
from benchmarks_app.common.selectors.reading import benchmark_documents
from benchmarks_app.common.services import audit
from benchmarks_app.common.services.exposure import is_withheld
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from benchwright.qrels.raw_judgments import FORMATS
from benchwright.qrels.rules import RULES

PAGE_SIZE = 50


@never_cache
@require_safe
@benchmark_view(Action.EDIT)
def judgment_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Every event, the newest first; of one query, document or kind if asked."""
    page = page_of(request, _asked_for(request, benchmark), PAGE_SIZE)
    if any(is_withheld(benchmark, event.query) for event in page):
        _say_read(request, benchmark, f"page {page.number}")
    context = {
        "page": page,
        "wanted": request.GET.get("q", "").strip(),
        "kind": request.GET.get("kind", ""),
        "kinds": Judgment.Kind.choices,
        "grades": dict(benchmark.grades.values_list("value", "name")),
    }
    return render(request, "annotation/labels/judgment_list.html", context)


def _asked_for(request: HttpRequest, benchmark: Benchmark) -> QuerySet[Judgment]:
    events = Judgment.events.filter(benchmark=benchmark).order_by("-pk")
    events = events.select_related("query__family", "actor", "pool", "superseded_by")
    name = request.GET.get("q", "").strip()
    if name:
        events = events.filter(Q(query__qid=name) | Q(docid=name))
    if request.GET.get("kind") in Judgment.Kind:
        events = events.filter(kind=request.GET["kind"])
    return events


@never_cache
@require_safe
@benchmark_view(Action.EDIT)
def judgments_export(request: PersonRequest, benchmark: Benchmark) -> StreamingHttpResponse:
    """All judgments as a file, sent while it is read: the worker has no part in it."""
    form = request.GET.get("format", "jsonl")
    if form not in FORMATS:
        raise Http404
    chunks = export_judgments(
        benchmark=benchmark, actor=request.user, form=form, is_whole=request.GET.get("all") == "1"
    )
    name = f"{benchmark.slug}-judgments.{form}"
    return StreamingHttpResponse(
        chunks,
        content_type=CONTENT_TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def judgments_import(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Labels given elsewhere, as a job that enters all of them or none.

    Where the file names its raters, the second step asks who they are.
    """
    form = LabelsImportForm(
        request.POST or None, request.FILES or None, benchmark=benchmark, owner=request.user
    )
    raters, status = None, 422 if request.method == "POST" else 200
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        file, earlier_upload = cleaned.pop("file"), cleaned.pop("upload")
        try:
            upload = earlier_upload or receive_upload(
                benchmark=benchmark, owner=request.user, file=file
            )
            raters = RatersForm(
                request.POST if earlier_upload else None,
                counts=raters_in(
                    benchmark=benchmark,
                    upload=upload,
                    rater=cleaned["rater"],
                    grade_map=cleaned["grade_map"],
                ),
                benchmark=benchmark,
                importer=request.user,
            )
            if raters.is_valid() or not raters.fields:
                cleaned |= raters.cleaned_data if raters.is_bound else {}
                return redirect(
                    start_import(benchmark=benchmark, user=request.user, upload=upload, **cleaned)
                )
            status = 422 if earlier_upload else 200
        except BenchmarkError as error:
            form.add_error(None, str(error))
    context = {"form": form, "grades": benchmark.grades.all(), "raters": raters}
    if raters is not None and not form.errors:
        context["upload"] = upload
        return render(
            request, "annotation/labels/judgments_import_raters.html", context, status=status
        )
    return render(request, "annotation/labels/judgments_import.html", context, status=status)


@never_cache
@require_safe
@benchmark_view(Action.SEE_POOLS)
def pair_detail(request: PersonRequest, benchmark: Benchmark, pk: int, docid: str) -> HttpResponse:
    """Why is this a 2? Everything that was said about a document of a query, and what follows."""
    query = get_object_or_404(benchmark.queries.committed().select_related("family"), pk=pk)
    has_names = may(request.user, Action.EDIT, benchmark)
    if not has_names and not pairs.may_adjudicate(benchmark, query, docid, request.user):
        raise PermissionDenied
    history = pairs.pair_history(benchmark, query, docid, has_names=has_names)
    grades = pairs.pair_grades(benchmark, query, docid, has_names=has_names)
    document = benchmark_documents(benchmark, [docid]).get(docid)
    if not (history or grades or document):
        raise Http404
    if is_withheld(benchmark, query):
        _say_read(request, benchmark, f"{query.qid} {docid}")
    context = {
        "query": query,
        "docid": docid,
        "document": document,
        "history": history,
        "grades": grades,
        "names": dict(benchmark.grades.values_list("value", "name")),
        "has_names": has_names,
    }
    return render(request, "annotation/labels/pair_detail.html", context)


def _say_read(request: PersonRequest, benchmark: Benchmark, what: str) -> None:
    """Labels of test queries may have to stay hidden: who looks at them is recorded."""
    audit.record(actor=request.user, action="read-judgments", benchmark=benchmark, target=what)


# --- labels for another text ----------------------------------------------------------------------


@never_cache
@require_safe
@benchmark_view(Action.EDIT)
def stale_list(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Labels of a pool that were given for a text which has changed since."""
    pool = _pool(benchmark, pk)
    labels = stale.stale_labels(pool)
    _say_read(request, benchmark, f"stale labels of {pool.name}")
    context: dict[str, Any] = {
        "pool": pool,
        "page": page_of(request, stale.stale_rows(labels), PAGE_SIZE),
        "n_to_offer": stale.not_offered(labels).count(),
        "grades": dict(benchmark.grades.values_list("value", "name")),
    }
    return render(request, "annotation/labels/stale_list.html", context)


@require_POST
@benchmark_view(Action.EDIT)
def stale_offer(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    pool = _pool(benchmark, pk)
    n = offer_rejudging(pool=pool, actor=request.user)
    documents = "1 document" if n == 1 else f"{n:,} documents"
    messages.success(request, f"{documents} will be judged again, after what is in the queue now.")
    return redirect("annotation:stale-list", benchmark.slug, pool.pk)


def _pool(benchmark: Benchmark, pk: int) -> Pool:
    built = Pool.objects.built().select_related("benchmark")
    return get_object_or_404(built, benchmark=benchmark, pk=pk)


@benchmark_view(Action.EDIT)
def qrels_publish(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """A set of qrels from everything that was judged in the benchmark, whichever the pool."""
    form = QrelsForm(request.POST or None, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            arguments = publishing_arguments(benchmark=benchmark, **form.arguments())
            job = jobs.start(benchmark=benchmark, user=request.user, **arguments)
        return redirect(job)
    context = {"form": form, "rules": RULES, "publication": publication_of(benchmark)}
    status = 422 if form.errors else 200
    return render(request, "annotation/labels/qrels_publish.html", context, status=status)
