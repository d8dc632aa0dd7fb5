"""Known grades of a pool: hidden checks and practice, for its owners alone."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.judging.selectors.starting import PRACTICE_DOCUMENTS, mark_of
from annotation.labels.forms.known_grades import (
    GoldShareForm,
    KnownGradeFileForm,
    KnownGradeForm,
    PracticeMarkForm,
    SettledForm,
)
from annotation.labels.selectors import known_grades as selectors
from annotation.labels.services.known_grades import (
    add_known_grade,
    add_known_grades,
    read_known_grades,
    remove_known_grade,
    set_gold_share,
    set_practice_mark,
)
from annotation.models import KnownGrade, Pool
from benchmarks_app.common.services.exposure import record_read
from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import AnnotationError
from benchwright.qrels.known_grades import Known

PAGE_SIZE = 50


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def known_grade_list(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """What is known, and a form for one more."""
    pool = _pool(benchmark, pk)
    form = KnownGradeForm(request.POST or None, grades=benchmark.grades.all())
    if request.method == "POST" and form.is_valid():
        try:
            add_known_grade(pool=pool, known_grade=Known(**form.cleaned_data), actor=request.user)
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "Saved.")
            return redirect("annotation:known-grade-list", benchmark.slug, pool.pk)
    purpose = request.GET.get("purpose", "")
    known_grades = selectors.known_grades_of(
        pool, purpose if purpose in KnownGrade.Purpose.values else ""
    )
    page = page_of(request, known_grades, PAGE_SIZE)
    record_read(actor=request.user, benchmark=benchmark, what=f"known grades of {pool.name}")
    context = {
        **_of(pool),
        "page": page,
        "titles": selectors.titles_of(page.object_list),
        "purpose": purpose,
        "counts": selectors.counts_by_purpose(pool),
        "form": form,
        "share_form": GoldShareForm(initial={"percent": round(100 * pool.gold_share, 1)}),
        "mark_form": PracticeMarkForm(initial={"mark": pool.practice_mark}),
        "mark": mark_of(pool),
        "file_form": KnownGradeFileForm(initial={"purpose": KnownGrade.Purpose.GOLD}),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/labels/known_grade_list.html", context, status=status)


@require_POST
@benchmark_view(Action.EDIT)
def known_grade_import(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    pool = _pool(benchmark, pk)
    form = KnownGradeFileForm(request.POST, request.FILES)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, " ".join(map(str, errors)))
        return redirect("annotation:known-grade-list", benchmark.slug, pool.pk)
    file, purpose = form.cleaned_data["file"], form.cleaned_data["purpose"]
    known_grades = read_known_grades(file.read(), pool=pool, file=file.name, purpose=purpose)
    add_known_grades(pool=pool, known_grades=known_grades, actor=request.user)
    messages.success(request, f"{len(known_grades)} known grades saved.")
    return redirect("annotation:known-grade-list", benchmark.slug, pool.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def known_grade_settled(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Pairs on which several people agree, or an adjudicator decided, to choose from."""
    pool = _pool(benchmark, pk)
    page = page_of(request, selectors.settled_rows(pool), PAGE_SIZE)
    pairs = {pair.key: pair for pair in selectors.settled_pairs(page.object_list)}
    form = SettledForm(request.POST or None, keys=list(pairs))
    if request.method == "POST" and form.is_valid():
        purpose = form.cleaned_data["purpose"]
        chosen = [pairs[key] for key in form.cleaned_data["pairs"]]
        known_grades = [Known(pair.query.qid, pair.docid, pair.grade, purpose) for pair in chosen]
        add_known_grades(pool=pool, known_grades=known_grades, actor=request.user)
        messages.success(request, f"{len(known_grades)} known grades saved.")
        return redirect("annotation:known-grade-list", benchmark.slug, pool.pk)
    record_read(actor=request.user, benchmark=benchmark, what=f"settled pairs of {pool.name}")
    context = {**_of(pool), "page": page, "pairs": pairs.values(), "form": form}
    status = 422 if form.errors else 200
    return render(request, "annotation/labels/known_grade_settled.html", context, status=status)


@require_POST
@benchmark_view(Action.EDIT)
def known_grade_share(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """How many of a person's labels are hidden checks, or how much practice has to be right."""
    pool = _pool(benchmark, pk)
    if "mark" in request.POST:
        return _marked(request, pool)
    form = GoldShareForm(request.POST)
    if form.is_valid():
        share = form.cleaned_data["percent"] / 100
        set_gold_share(pool=pool, share=share, actor=request.user)
        messages.success(request, "Saved.")
    else:
        messages.error(request, "Give a number from 0 to 20.")
    return redirect("annotation:known-grade-list", benchmark.slug, pool.pk)


def _marked(request: PersonRequest, pool: Pool) -> HttpResponse:
    form = PracticeMarkForm(request.POST)
    if form.is_valid():
        set_practice_mark(pool=pool, mark=form.cleaned_data["mark"], actor=request.user)
        messages.success(request, "Saved. It holds for who has not passed yet.")
    else:
        messages.error(request, f"Give a number from 0 to {PRACTICE_DOCUMENTS}, or nothing.")
    return redirect("annotation:known-grade-list", pool.benchmark.slug, pool.pk)


@require_POST
@benchmark_view(Action.EDIT)
def known_grade_remove(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    known_grade = get_object_or_404(
        KnownGrade.objects.select_related("entry__pool__benchmark", "entry__query"),
        pk=pk,
        entry__pool__benchmark=benchmark,
    )
    pool = known_grade.entry.pool
    remove_known_grade(known_grade=known_grade, actor=request.user)
    messages.success(request, "Removed. What was judged because of it stays on record.")
    return redirect("annotation:known-grade-list", benchmark.slug, pool.pk)


def _pool(benchmark: Benchmark, pk: int) -> Pool:
    built = Pool.objects.built().select_related("benchmark__corpus")
    return get_object_or_404(built, benchmark=benchmark, pk=pk)


def _of(pool: Pool) -> dict[str, Any]:
    return {"pool": pool, "grades": {grade.value: grade for grade in pool.benchmark.grades.all()}}
