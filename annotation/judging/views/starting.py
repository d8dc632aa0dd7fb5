"""Where an annotator begins: my work, and before the first document what is recorded, practice."""

import uuid
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.common.selectors import screen
from annotation.common.selectors.pools import pools_to_judge
from annotation.common.services import statements
from annotation.judging.forms import PracticeForm, ReadForm
from annotation.judging.selectors import keys, starting
from annotation.judging.selectors.queue import queue_rows
from annotation.judging.services.showing import (
    NO_TEXT,
    corpus_rows,
    document_as_shown,
    images_of,
    query_as_shown,
)
from annotation.judging.services.starting import mark_read, practise_again, record_practice
from annotation.models import KnownGrade, Pool
from benchmarks_app.common.selectors.images import query_images_shown
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, require
from benchmarks_app.requests import PersonRequest
from benchwright.formats.numbers import row_key
from benchwright.texts.rendering import guideline_html

PAGE_SIZE = 25


@never_cache
@login_required
@require_safe
def queue(request: PersonRequest) -> HttpResponse:
    """Every open and paused pool of every benchmark where I judge, and what it has for me."""
    page = page_of(request, pools_to_judge(request.user), PAGE_SIZE)
    context = {"page": page, "rows": queue_rows(list(page), request.user)}
    return render(request, "annotation/judging/queue.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: PersonRequest, pk: int) -> HttpResponse:
    """The notice and the guideline; after a change of the guideline, what changed."""
    pool = pool_to_judge(request, pk)
    form = ReadForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        mark_read(pool=pool, annotator=request.user, version=form.cleaned_data["version"])
        return redirect(address_of(pool, starting.step_before_judging(pool, request.user)))
    reading = starting.reading_of(pool, request.user)
    context = {
        "pool": pool,
        "benchmark": pool.benchmark,
        "reading": reading,
        "guideline": guideline_html(reading.guideline.text) if reading.guideline else "",
        "grades": pool.benchmark.grades.all(),
        "form": form,
    }
    return render(
        request, "annotation/judging/start.html", context, status=422 if form.errors else 200
    )


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def practice(request: PersonRequest, pk: int) -> HttpResponse:
    """The next practice document, what its grade should be, or how it went in all."""
    pool = pool_to_judge(request, pk)
    if request.method == "POST":
        return _graded(request, pool)
    if not pool.benchmark.corpus.has_texts:
        return redirect("annotation:judge", pool.pk)
    done = starting.practice_by(pool, request.user)
    answered = _answered(request, done)
    known_grade = answered.known if answered else done.next
    context = {
        "pool": pool,
        "benchmark": pool.benchmark,
        "practice": done,
        "answered": answered,
        **(_document(request, pool, done, known_grade) if known_grade else {}),
    }
    return render(request, "annotation/judging/practice.html", context)


def _graded(request: PersonRequest, pool: Pool) -> HttpResponse:
    if "again" in request.POST:
        practise_again(pool=pool, annotator=request.user)
        return redirect("annotation:practice", pool.pk)
    form = PracticeForm(request.POST)
    if not form.is_valid():
        return redirect("annotation:practice", pool.pk)
    cleaned = form.cleaned_data
    known_grade = get_object_or_404(starting.practice_of(pool), pk=cleaned["known"])
    record_practice(
        known_grade=known_grade,
        annotator=request.user,
        grade=cleaned["grade"],
        client_id=cleaned["client_id"],
        dwell_ms=cleaned["dwell_ms"],
    )
    return redirect(f"{reverse('annotation:practice', args=[pool.pk])}?answer={known_grade.pk}")


def _answered(request: HttpRequest, done: starting.Practice) -> starting.Practised | None:
    """The document whose answer is asked for: only one that the person has graded has any."""
    answer = request.GET.get("answer", "")
    if not answer:
        return None
    key = row_key(answer)
    practised = None if key is None else done.of(key)
    if practised is None:
        raise Http404
    return practised


def _document(
    request: PersonRequest, pool: Pool, done: starting.Practice, known_grade: KnownGrade
) -> dict[str, Any]:
    """The document as the labeling page shows it, with the keys that work there."""
    corpus, entry = pool.benchmark.corpus, known_grade.entry
    text = statements.texts([entry.document_id]).get(entry.document_id, NO_TEXT)
    query = statements.queries([entry.query_id])[entry.query_id]
    document, _ = document_as_shown(corpus, query, text)
    rows = corpus_rows(pool.benchmark, [entry.document_id])
    images = images_of(pool.benchmark, rows).get(entry.document_id, [])
    documents = [practised.known.pk for practised in done.documents]
    place = screen.Place(documents.index(known_grade.pk) + 1, len(documents))
    grades = list(pool.benchmark.grades.all())
    chosen = keys.keys_on_page(request.user, grades)
    caps = {action.name: bound for action, bound in chosen["rows"]} if chosen["is_on"] else {}
    guideline = screen.current_guideline(pool.benchmark)
    return {
        "known": known_grade,
        "item": {
            "query": query_as_shown(corpus, query, "")
            | query_images_shown(pool.benchmark, {"images": query}),
            "document": document | {"images": images},
            "place": {"number": place.number, "total": place.total},
        },
        "place": place,
        "is_full": "full" in request.GET,
        "full_url": "?" if "full" in request.GET else "?full=1",
        "grades": [(grade, caps.get(f"grade-{grade.value}", ())) for grade in grades],
        "caps": {name.replace("-", "_"): bound[0] for name, bound in caps.items()},
        "guideline": guideline,
        "guideline_text": guideline_html(guideline.text) if guideline else "",
        "client_id": uuid.uuid4(),
        "script": {"keys": {"is_on": chosen["is_on"], "bindings": chosen["bindings"]}},
    }


def address_of(pool: Pool, step: starting.Step | None) -> str:
    """Where a person goes who has this step before them."""
    if step is None:
        return reverse("annotation:judge", args=[pool.pk])
    view = "practice" if step == starting.Step.PRACTICE else "start"
    return reverse(f"annotation:{view}", args=[pool.pk])


def pool_to_judge(request: HttpRequest, pk: int) -> Pool:
    pools = Pool.objects.built().select_related("benchmark__corpus")
    pool = get_object_or_404(pools, pk=pk)
    require(request.user, Action.JUDGE, pool.benchmark)
    return pool
