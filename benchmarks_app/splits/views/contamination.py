"""Checks of a benchmark's queries against lists from outside."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.collections.services.uploading import receive_upload
from benchmarks_app.models import Benchmark, ContaminatedQuery, ContaminationCheck
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchmarks_app.slices.services.slicing import slice_url
from benchmarks_app.splits.forms import CleanSliceForm, ContaminationForm
from benchmarks_app.splits.services import contamination
from benchwright.errors import BenchmarkError

DEGREES = ContaminatedQuery.Degree


@require_safe
@benchmark_view(Action.VIEW)
def contamination_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    checks = benchmark.contamination_checks.select_related("created_by").order_by("-pk")
    context = {"page": page_of(request, checks)}
    return render(request, "benchmarks_app/splits/contamination_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def contamination_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    form = ContaminationForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            upload = receive_upload(benchmark=benchmark, owner=request.user, file=data["file"])
            return redirect(
                contamination.start_check(
                    benchmark=benchmark,
                    user=request.user,
                    upload=upload,
                    name=data["name"],
                    salt=data["salt"],
                )
            )
        except BenchmarkError as error:
            form.add_error(None, str(error))
    context = {"form": form, "salt": contamination.salt_of(benchmark)}
    status = 422 if request.method == "POST" else 200
    return render(request, "benchmarks_app/splits/contamination_new.html", context, status=status)


@require_safe
@benchmark_view(Action.VIEW)
def contamination_detail(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    check = _check(benchmark, pk)
    may_edit = may(request.user, Action.EDIT, benchmark)
    matches = check.matches.select_related("query").order_by("-similarity", "query__qid", "degree")
    degree = request.GET.get("degree", "")
    if not may_edit:
        # Which documents are relevant to a query may be hidden.
        matches = matches.exclude(degree=DEGREES.DOCUMENT)
    if degree in DEGREES.values:
        matches = matches.filter(degree=degree)
    name = contamination.clean_slice_name(check)
    context: dict[str, Any] = {
        "check": check,
        "rows": check.result["slices"],
        "whole": check.result["slices"][0],
        "page": page_of(request, matches),
        "degree": degree,
        "degrees": [
            choice for choice in DEGREES.choices if may_edit or choice[0] != DEGREES.DOCUMENT
        ],
        "see_documents": may_edit,
        "clean_form": CleanSliceForm(),
        "clean_slice": benchmark.slices.filter(name=name).first(),
    }
    return render(request, "benchmarks_app/splits/contamination_detail.html", context)


@require_safe
@benchmark_view(Action.VIEW)
def contamination_clean(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The clean queries, an id a line."""
    check = _check(benchmark, pk)
    body = "".join(f"{qid}\n" for qid in ["query-id", *contamination.clean_qids(check)])
    name = f"{benchmark.slug}-{contamination.clean_slice_name(check)}.tsv"
    return HttpResponse(
        body,
        content_type="text/tab-separated-values; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@require_POST
@benchmark_view(Action.EDIT)
def contamination_slice(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    check = _check(benchmark, pk)
    form = CleanSliceForm(request.POST)
    is_strict = form.is_valid() and form.cleaned_data["without_possible"]
    try:
        clean_slice = contamination.make_clean_slice(
            check=check, user=request.user, without_possible=is_strict
        )
    except BenchmarkError as error:
        messages.error(request, str(error))
        return redirect("contamination-detail", benchmark.slug, check.pk)
    messages.success(request, f"Slice “{clean_slice.name}” is there.")
    return redirect(slice_url(clean_slice))


@require_POST
@benchmark_view(Action.EDIT)
def contamination_delete(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    check = _check(benchmark, pk)
    contamination.delete_check(check=check, user=request.user)
    messages.success(request, f"The check “{check.name}” is gone.")
    return redirect("contamination-list", benchmark.slug)


def _check(benchmark: Benchmark, pk: int) -> ContaminationCheck:
    checks = benchmark.contamination_checks.select_related("created_by", "upload")
    check = get_object_or_404(checks, pk=pk)
    check.benchmark = benchmark
    return check
