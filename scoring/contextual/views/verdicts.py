"""People's verdicts on the nodes of cases: which sets ask for them, and case after case."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from scoring.contextual.forms import VerdictsForm
from scoring.contextual.selectors import (
    images_by_name,
    next_case,
    nodes_asked,
    open_sets_for,
    open_sets_of,
    parts_shown,
)
from scoring.contextual.services.errors import VerdictsError
from scoring.contextual.services.images import image_response
from scoring.contextual.services.people import ask_people, record_verdicts
from scoring.contextual.views.contextual import set_of
from scoring.models import CaseSet, ContextualCase

IMAGE = "contextual-verdict-image"


@require_safe
@benchmark_view(Action.JUDGE)
def contextual_verdicts(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    context = {"case_sets": list(open_sets_for(benchmark, request.user))}
    return render(request, "scoring/contextual/contextual_verdicts.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.JUDGE)
def contextual_verdict_case(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The next case of a set: nothing of what a judge says of it is on the page."""
    case_set = get_object_or_404(open_sets_for(benchmark, request.user), pk=pk)
    case = next_case(case_set, request.user)
    if case is None:
        return render(request, "scoring/contextual/contextual_verdict_case.html", {"of": case_set})
    nodes = nodes_asked(case, request.user)
    is_posted = request.method == "POST"
    if is_posted and request.POST.get("case") != str(case.number):
        raise VerdictsError(reason=gettext("You have judged this case already."))
    form = VerdictsForm(request.POST if is_posted else None, nodes=nodes)
    if is_posted and form.is_valid():
        record_verdicts(case=case, person=request.user, verdicts=form.verdicts)
        return redirect("scoring:contextual-verdict-case", benchmark.slug, pk)
    context = {"of": case_set, "case": case, "form": form, **_shown(case_set, case, form)}
    status = 422 if form.errors else 200
    return render(
        request, "scoring/contextual/contextual_verdict_case.html", context, status=status
    )


def _shown(case_set: CaseSet, case: ContextualCase, form: VerdictsForm) -> dict[str, Any]:
    images = images_by_name(case_set)

    def parts(content: Any) -> list[dict[str, Any]]:
        return parts_shown(content, images, route=IMAGE)

    nodes = case.content["retrieval_context"]
    return {
        "asked": parts(case.content["input"]),
        "expected": parts(case.content["expected_output"]),
        "nodes": [
            (gettext("Text {n}").format(n=place), parts(nodes[rank - 1]), *form.of(rank))
            for place, rank in enumerate(form.nodes, start=1)
        ],
    }


@require_safe
@benchmark_view(Action.JUDGE)
def contextual_verdict_image(
    request: HttpRequest, benchmark: Benchmark, pk: int, image: int
) -> HttpResponseBase:
    """An image of a set that people are asked about, for who may see no results."""
    images = get_object_or_404(open_sets_of(benchmark), pk=pk).images
    return image_response(get_object_or_404(images, pk=image))


@require_POST
@benchmark_view(Action.EDIT)
def contextual_set_people(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Ask people about a set, or no longer."""
    case_set = set_of(request, benchmark, pk)
    is_asked = request.POST.get("ask") == "yes"
    ask_people(case_set=case_set, user=request.user, is_asked=is_asked)
    message = gettext("People are asked.") if is_asked else gettext("People are no longer asked.")
    messages.success(request, message)
    return redirect(case_set)
