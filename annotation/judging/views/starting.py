"""Before the first document: what is recorded, the guideline, and practice with answers."""

import uuid
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.common.selectors import screen
from annotation.judging.forms.starting import PracticeForm, ReadForm
from annotation.judging.selectors import starting
from annotation.judging.services.starting import mark_read, record_practice
from annotation.models import KnownGrade, Pool
from benchmarks_app.permissions import Action, require
from benchmarks_app.requests import PersonRequest
from benchwright.formats.numbers import row_key
from benchwright.texts.directions import direction_of
from benchwright.texts.presenting import presented
from benchwright.texts.rendering import guideline_html


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
    known = answered.known if answered else done.next
    context = {
        "pool": pool,
        "benchmark": pool.benchmark,
        "practice": done,
        "answered": answered,
        "grades": list(pool.benchmark.grades.all()),
        "client_id": uuid.uuid4(),
        **(_document(pool, known) if known else {}),
    }
    return render(request, "annotation/judging/practice.html", context)


def _graded(request: PersonRequest, pool: Pool) -> HttpResponse:
    form = PracticeForm(request.POST)
    if not form.is_valid():
        return redirect("annotation:practice", pool.pk)
    cleaned = form.cleaned_data
    known = get_object_or_404(starting.practice_of(pool), pk=cleaned["known"])
    record_practice(
        known=known, annotator=request.user, grade=cleaned["grade"], client_id=cleaned["client_id"]
    )
    return redirect(f"{reverse('annotation:practice', args=[pool.pk])}?answer={known.pk}")


def _answered(request: HttpRequest, done: starting.Practice) -> starting.Practised | None:
    """The document whose answer is asked for: only one that the person has graded has any."""
    asked = request.GET.get("answer", "")
    if not asked:
        return None
    key = row_key(asked)
    practised = None if key is None else done.of(key)
    if practised is None:
        raise Http404
    return practised


def _document(pool: Pool, known: KnownGrade) -> dict[str, Any]:
    query, corpus = known.entry.query, pool.benchmark.corpus
    content = screen.contents_of([known.entry.document_id]).get(known.entry.document_id)
    text, title = (content.text, content.title) if content else ("", "")
    lang = (content.lang if content else "") or corpus.lang
    return {
        "known": known,
        "query": query,
        "query_lang": query.lang or corpus.lang,
        "lang": lang,
        "dir": direction_of(lang, text or title),
        "document": presented(
            query=query.text, title=title, text=text, text_format=corpus.text_format, lang=lang
        ),
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
