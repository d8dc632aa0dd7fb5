"""A corpus: what is in it, its versions, snapshots on their way in, collections by name."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.collections import selectors
from benchmarks_app.collections.forms import CorpusForm, DocumentGradesForm, FetchForm
from benchmarks_app.collections.services import snapshots, units
from benchmarks_app.common.forms import has_rows
from benchmarks_app.common.selectors.reading import corpus_documents, measures_documents_of_passages
from benchmarks_app.importing.services import fetching
from benchmarks_app.models import Benchmark, CorpusVersion
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchwright.corpora.cuts import cut_sentence
from benchwright.errors import BenchmarkError
from benchwright.fetching.names import KNOWN_BEIR
from benchwright.texts.counting import counted


@require_safe
@login_required
def corpus_list(request: PersonRequest) -> HttpResponse:
    rows = selectors.corpora_visible_to(request.user)
    page = page_of(request, rows)
    of_corpus = selectors.benchmarks_of(page, request.user)
    listed = [
        (corpus, of_corpus.get(corpus.pk, []), cut_sentence(corpus.is_cut or {})) for corpus in page
    ]
    return render(
        request, "benchmarks_app/importing/corpus_list.html", {"page": page, "rows": listed}
    )


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.VIEW)
def corpus_detail(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    may_edit = may(request.user, Action.EDIT, benchmark)
    version = benchmark.current_corpus_version
    keys = sorted(version.metadata_kinds) if version else []
    form = None
    if may_edit:
        request = cast(PersonRequest, request)  # who may edit is signed in
        form = CorpusForm(request.POST or None, benchmark=benchmark, keys=keys)
        if request.method == "POST" and form.is_valid() and _changed(request, benchmark, form):
            return redirect("corpus-detail", benchmark.slug)
    elif request.method == "POST":
        return HttpResponse(status=403)
    docid = request.GET.get("id", "").strip()
    if docid and version and corpus_documents(version, [docid]):
        return redirect("document-detail", benchmark.slug, docid)
    context = {
        "corpus": benchmark.corpus,
        "version": version,
        "versions": _versions(benchmark, may_edit),
        "keys": keys,
        "cut": cut_sentence(version.cut) if version else "",
        "samples": selectors.sample_documents(version) if version else [],
        "sharing": selectors.sharing_of(benchmark.corpus, request.user),
        "wanted": docid,
        "form": form,
        "may_edit": may_edit,
    }
    status = 422 if form is not None and form.errors else 200
    return render(request, "benchmarks_app/importing/corpus_detail.html", context, status=status)


def _versions(benchmark: Benchmark, may_edit: bool) -> list[CorpusVersion]:
    """The versions, newest first; what is only proposed is for those who decide it."""
    rows = benchmark.corpus.versions.order_by("-number")
    return list(rows if may_edit else rows.ready())


def _changed(request: PersonRequest, benchmark: Benchmark, form: CorpusForm) -> bool:
    try:
        units.change_corpus(benchmark=benchmark, actor=request.user, **form.cleaned_data)
    except BenchmarkError as error:
        form.add_error(None, str(error))
        return False
    messages.success(request, "Saved.")
    return True


@require_safe
@benchmark_view(Action.EDIT)
def corpus_version(request: PersonRequest, benchmark: Benchmark, number: int) -> HttpResponse:
    version = _version_of(benchmark, number)
    context = {
        "version": version,
        "corpus": benchmark.corpus,
        "cut": cut_sentence(version.cut),
        "changes": selectors.examples_of(version),
        "at_stake": selectors.labels_at_stake(version, request.user),
        "sharing": selectors.sharing_of(benchmark.corpus, request.user),
        "is_proposed": version.state == CorpusVersion.State.PROPOSED,
    }
    return render(request, "benchmarks_app/importing/corpus_version.html", context)


def _version_of(benchmark: Benchmark, number: int) -> CorpusVersion:
    versions = CorpusVersion.objects.filter(corpus=benchmark.corpus).select_related("corpus")
    return get_object_or_404(versions, number=number)


@require_POST
@benchmark_view(Action.EDIT)
def snapshot_take(request: PersonRequest, benchmark: Benchmark, number: int) -> HttpResponse:
    version = _version_of(benchmark, number)
    snapshots.take_snapshot(version=version, benchmark=benchmark, actor=request.user)
    messages.success(request, f"Version {number} is the corpus now.")
    return redirect("corpus-detail", benchmark.slug)


@require_POST
@benchmark_view(Action.EDIT)
def snapshot_discard(request: PersonRequest, benchmark: Benchmark, number: int) -> HttpResponse:
    version = _version_of(benchmark, number)
    snapshots.discard_snapshot(version=version, benchmark=benchmark, actor=request.user)
    messages.success(request, f"Version {number} is discarded; the corpus is as it was.")
    return redirect("corpus-detail", benchmark.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def fetch_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    form = FetchForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            job = fetching.start_fetch(benchmark=benchmark, user=request.user, **form.cleaned_data)
        except BenchmarkError as error:
            form.add_error("collection", str(error))
        else:
            return redirect(job)
    context = {"form": form, "known": KNOWN_BEIR, "extras": fetching.extras_there()}
    status = 422 if form.errors else 200
    return render(request, "benchmarks_app/importing/fetch_new.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def document_grades_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Grades of documents out of grades of their passages."""
    form = DocumentGradesForm(
        request.POST or None,
        benchmark=benchmark,
        user=request.user,
        initial={"qrel_set": request.GET.get("qrels")},
    )
    if request.method == "POST" and form.is_valid():
        try:
            data = units.derive_document_qrels(
                benchmark=benchmark, actor=request.user, **form.cleaned_data
            )
        except BenchmarkError as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request, f"Qrels '{data}' hold {counted(data.n_qrels, 'grade')} of documents."
            )
            return redirect("qrels-list", benchmark.slug)
    context = {
        "form": form,
        "is_possible": measures_documents_of_passages(benchmark),
        "has_sets": has_rows(form, "qrel_set"),
    }
    status = 422 if form.errors else 200
    return render(
        request, "benchmarks_app/importing/document_grades_new.html", context, status=status
    )
