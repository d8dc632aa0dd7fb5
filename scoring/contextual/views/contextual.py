"""Case sets: listed, imported, looked at, deleted; and the images of their cases."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.collections.services import uploading
from benchmarks_app.judges.selectors import judges_of
from benchmarks_app.judges.services.keys import missing_packages
from benchmarks_app.models import Benchmark, Job
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from scoring.contextual.forms import CaseSetForm
from scoring.contextual.selectors import (
    case_sets_of,
    evaluations_of,
    freshness_of,
    images_by_name,
    parts_shown,
    source_of,
)
from scoring.contextual.services.images import image_response, receive_images
from scoring.contextual.services.importing import delete_case_set, start_import
from scoring.models import CaseSet

CASES_A_PAGE, EVALUATIONS_SHOWN = 25, 25


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contextual_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    context = {
        "case_sets": [(of, freshness_of(of)) for of in case_sets_of(benchmark, request.user)],
        "page": page_of(request, evaluations_of(benchmark, request.user), EVALUATIONS_SHOWN),
        "n_judges": judges_of(benchmark).count(),
        "missing": missing_packages(),
    }
    return render(request, "scoring/contextual/contextual_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def contextual_import(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    is_posted = request.method == "POST"
    form = CaseSetForm(request.POST if is_posted else None, request.FILES if is_posted else None)
    if is_posted and form.is_valid():
        job = _started(request, benchmark, form)
        if job is not None:
            return redirect(job)
    context = {"form": form, "missing": missing_packages()}
    status = 422 if form.errors else 200
    return render(request, "scoring/contextual/contextual_import.html", context, status=status)


def _started(request: PersonRequest, benchmark: Benchmark, form: CaseSetForm) -> Job | None:
    cleaned = form.cleaned_data
    try:
        images = receive_images(benchmark=benchmark, owner=request.user, images=cleaned["images"])
        cases = uploading.receive_upload(
            benchmark=benchmark, owner=request.user, file=cleaned["cases"]
        )
        return start_import(
            benchmark=benchmark, user=request.user, name=cleaned["name"], cases=cases, images=images
        )
    except BenchmarkError as error:
        form.add_error(_FIELD_OF.get(error.code), str(error))
        return None


_FIELD_OF = {"case-set-name": "name", "case-images": "images", "upload-empty": "cases"}


def set_of(request: HttpRequest, benchmark: Benchmark, pk: int) -> CaseSet:
    """The case set of that number in this benchmark; 404 where this person sees none."""
    return get_object_or_404(case_sets_of(benchmark, request.user), pk=pk)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contextual_set(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    case_set = set_of(request, benchmark, pk)
    page = page_of(request, case_set.cases.order_by("number"), CASES_A_PAGE)
    images = images_by_name(case_set)
    cases = [(case, parts_shown(case.content["input"], images)) for case in page.object_list]
    context = {
        "case_set": case_set,
        # Read here: in a template `slices.items` is a slice of that name first.
        "slices": case_set.slices.items(),
        "page": page,
        "cases": cases,
        "evaluations": list(case_set.evaluations.listed()),
        "missing": missing_packages(),
        "source": source_of(case_set),
        "freshness": freshness_of(case_set),
    }
    return render(request, "scoring/contextual/contextual_set.html", context)


@require_POST
@benchmark_view(Action.EDIT)
def contextual_set_delete(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    case_set = set_of(request, benchmark, pk)
    delete_case_set(case_set=case_set, user=request.user)
    messages.success(
        request, gettext("The case set “{name}” was deleted.").format(name=case_set.name)
    )
    return redirect("scoring:contextual-list", benchmark.slug)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contextual_image(
    request: HttpRequest, benchmark: Benchmark, pk: int, image: int
) -> HttpResponseBase:
    """An image of a case: of the kind it was found to be, whatever a browser would make of it."""
    return image_response(get_object_or_404(set_of(request, benchmark, pk).images, pk=image))
