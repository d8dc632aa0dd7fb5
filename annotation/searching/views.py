"""The page of a query where one searches the corpus and grades what comes up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.searching import selectors
from annotation.searching.errors import SearchTooLongError
from annotation.searching.forms import FoundGradeForm, SearchForm
from annotation.searching.services import grade_found, start_indexing
from benchmarks_app.common.services.exposure import is_withheld, record_read
from benchmarks_app.models import Benchmark, Query, User
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError

GRADED_SHOWN = 50


@never_cache
@require_safe
@benchmark_view(Action.JUDGE)
def query_search(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    query = _query(benchmark, pk)
    _refuse_unpermitted(request, query)
    sees_others = may(request.user, Action.EDIT, benchmark)
    if sees_others and is_withheld(benchmark, query):
        record_read(actor=request.user, benchmark=benchmark, what=f"query {query.qid}")
    form = SearchForm(request.GET)
    cleaned = form.cleaned_data if form.is_valid() else {}
    words = cleaned.get("q") or query.text
    number = cleaned.get("page") or 1
    grades = selectors.grades_as_known(query, request.user, sees_others=sees_others)
    but = set(grades) if cleaned.get("unjudged") else set()
    path = selectors.word_index_path(benchmark)
    is_ready = path is not None and path.exists()
    results = _Results()
    if is_ready:
        results = _results(benchmark, words, but=but, number=number)
    context = {
        "query": query,
        "words": words,
        "is_unjudged_only": bool(but) or bool(cleaned.get("unjudged")),
        "number": number,
        "has_next": results.has_next,
        "error": results.error,
        "is_ready": is_ready,
        "has_texts": path is not None,
        "job": None if is_ready else selectors.indexing_job(benchmark),
        "client_id": uuid4(),
        "neighbours": _neighbours(query),
        "sees_others": sees_others,
        "is_annotator": not may(request.user, Action.ADJUDICATE, benchmark),
        **_documents(query, request.user, results.docids, grades, words),
    }
    return render(request, "annotation/searching/query_search.html", context)


@dataclass(frozen=True)
class _Results:
    """A page of documents with the words that were searched for; `error` is why there are none."""

    docids: Sequence[str] = ()
    has_next: bool = False
    error: str = ""


def _results(benchmark: Benchmark, words: str, *, but: set[str], number: int) -> _Results:
    try:
        return _Results(*selectors.found_documents(benchmark, words, but=but, number=number))
    except SearchTooLongError as refusal:
        return _Results(error=str(refusal))


def _documents(
    query: Query, user: User, docids: Sequence[str], grades: dict[str, selectors.Grades], words: str
) -> dict[str, Any]:
    """What was found and what is graded, each beside its runs; how often each grade is there."""
    graded = sorted(grades, key=lambda docid: (-(grades[docid].value or 0), docid))
    listed = list(dict.fromkeys([*docids, *graded[:GRADED_SHOWN]]))
    rows = selectors.documents_beside(query, user, docids=listed, grades=grades, words=words)
    beside = {row.docid: row for row in rows}
    values = [of_document.value for of_document in grades.values()]
    scale = list(query.benchmark.grades.order_by("value"))
    return {
        "found": [beside[docid] for docid in docids],
        "graded": [beside[docid] for docid in graded[:GRADED_SHOWN]],
        "n_graded": len(grades),
        "doubtful": [row for row in rows if row.is_doubtful],
        "counts": [(grade, values.count(grade.value)) for grade in reversed(scale)],
        "scale": scale,
    }


def _neighbours(query: Query) -> dict[str, Query | None]:
    queries = query.benchmark.queries.committed()
    return {
        "before": queries.filter(pk__lt=query.pk).order_by("-pk").first(),
        "after": queries.filter(pk__gt=query.pk).order_by("pk").first(),
    }


@require_POST
@benchmark_view(Action.JUDGE)
def found_grade(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Grade one document, and go back to it."""
    query = _query(benchmark, pk)
    _refuse_unpermitted(request, query)
    form = FoundGradeForm(request.POST)
    if not form.is_valid():
        return HttpResponse("A document and a grade are needed.", status=422)
    values: dict[str, Any] = form.cleaned_data
    try:
        grade_found(
            query=query,
            docid=values["docid"],
            actor=request.user,
            grade=values["grade"],
            client_id=_own_id(values["client_id"], values["docid"], values["grade"]),
            joins_pool=may(request.user, Action.ADJUDICATE, benchmark),
        )
    except BenchmarkError as error:
        messages.error(request, str(error))
    url = reverse("annotation:query-search", args=[benchmark.slug, query.pk])
    params = {name: values[name] for name in ("q", "unjudged", "page") if values[name]}
    return redirect(f"{url}?{urlencode(params)}#document-{values['row']}")


def _own_id(page: UUID, docid: str, grade: int) -> UUID:
    """One id a document and grade of a page: a form sent twice changes nothing."""
    return uuid5(page, f"{grade} {docid}")


@require_POST
@benchmark_view(Action.ADJUDICATE)
def words_index(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Make the corpus searchable."""
    return redirect(start_indexing(benchmark=benchmark, user=request.user))


def _refuse_unpermitted(request: PersonRequest, query: Query) -> None:
    """Adjudicators and keepers search beside each query, annotators where their pool lets them."""
    if not may(request.user, Action.ADJUDICATE, query.benchmark) and not selectors.is_permitted(
        query, request.user
    ):
        raise PermissionDenied


def _query(benchmark: Benchmark, pk: int) -> Query:
    queries = benchmark.queries.committed().select_related("family", "benchmark__corpus")
    query: Query = get_object_or_404(queries, pk=pk)
    query.benchmark = benchmark
    return query
