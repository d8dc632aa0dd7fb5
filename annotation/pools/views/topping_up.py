"""Lists of documents worth judging, and pools of them."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.pools.forms.building import CandidateUploadForm, UnjudgedForm
from annotation.pools.services.topping_up import unjudged_in_top
from annotation.pools.views.building import runs_of
from benchmarks_app.collections.services.candidates import make_candidate_list
from benchmarks_app.common.services import reading_apart
from benchmarks_app.models import Benchmark, CandidateList
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError, Problems
from benchwright.ids import LONGEST_NAME
from benchwright.qrels.candidates import read_candidates
from benchwright.uploads.row_streams import lines_of

PAGE_SIZE = 25


@benchmark_view(Action.EDIT)
def pool_top_up(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """The lists there are; a post makes one, of a run or of a file, and leads to its pool."""
    is_upload = "upload" in request.POST
    chosen = {"run": request.GET.get("run"), "depth": 10}
    runs = runs_of(benchmark, request.user)
    of_run = UnjudgedForm(
        request.POST if request.method == "POST" and not is_upload else None,
        runs=runs,
        initial=chosen,
    )
    of_file = CandidateUploadForm(
        request.POST if is_upload else None, request.FILES if is_upload else None
    )
    form = of_file if is_upload else of_run
    if request.method == "POST" and form.is_valid():
        list_pk = _made(request, benchmark, form, is_upload)
        if list_pk:
            return redirect(
                f"{reverse('annotation:pool-new', args=[benchmark.slug])}?list={list_pk}"
            )
    lists = benchmark.candidate_lists.select_related("created_by").order_by("-pk")
    context = {
        "of_run": of_run,
        "of_file": of_file,
        "page": page_of(request, lists, PAGE_SIZE),
        "has_runs": runs.exists(),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/pools/pool_top_up.html", context, status=status)


def _made(request: PersonRequest, benchmark: Benchmark, form: Any, is_upload: bool) -> int | None:
    """The key of the new list, or None with the form saying why there is none."""
    try:
        if is_upload:
            return _of_file(request, benchmark, form).pk
        cleaned = form.cleaned_data
        candidates = unjudged_in_top(run=cleaned["run"], depth=cleaned["depth"], user=request.user)
    except BenchmarkError as error:
        form.add_error("file" if is_upload else None, str(error))
        return None
    return candidates.pk


def _of_file(
    request: PersonRequest, benchmark: Benchmark, form: CandidateUploadForm
) -> CandidateList:
    file: UploadedFile = form.cleaned_data["file"]
    file_name = file.name or ""
    problems = Problems()
    lines = reading_apart.call(lines_of, file.read(), file_name, file=file_name)
    rows = list(read_candidates(lines, file=file_name, problems=problems))
    problems.raise_found()
    name = form.cleaned_data["name"] or file_name
    return make_candidate_list(
        benchmark=benchmark,
        rows=rows,
        name=name[:LONGEST_NAME],
        origin=f"file {file_name}",
        user=request.user,
    )
