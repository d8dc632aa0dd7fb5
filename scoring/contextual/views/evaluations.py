"""Evaluations of case sets: estimated, started, watched, ended, taken up again."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.charts import chart_response
from benchmarks_app.judges.selectors import judges_of
from benchmarks_app.judges.services.keys import missing_packages
from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest, SiteRequest
from benchwright.errors import BenchmarkError
from scoring.contextual.charts import scores_chart
from scoring.contextual.forms import EvaluationForm, RetryForm
from scoring.contextual.selectors import counts_of, evaluations_of, outcome_rows
from scoring.contextual.services.estimates import estimate
from scoring.contextual.services.evaluating import (
    cancel_evaluation,
    delete_evaluation,
    retry_evaluation,
    start_evaluation,
)
from scoring.contextual.services.people import agreement_with_people
from scoring.contextual.services.results import results_of
from scoring.contextual.views.contextual import set_of
from scoring.models import CaseSet, ContextualEvaluation

OUTCOMES_A_PAGE = 50
FIELD_OF = {"cost-unknown": "cost_cap", "no-cases-chosen": "which"}


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def contextual_evaluation_new(
    request: PersonRequest, benchmark: Benchmark, pk: int
) -> HttpResponse:
    """What it would take is shown before anything starts; `?judge=…` shows it without script."""
    case_set, judges = set_of(request, benchmark, pk), judges_of(benchmark)
    is_posted = request.method == "POST"
    data = request.POST if is_posted else (request.GET if "judge" in request.GET else None)
    form = EvaluationForm(data, case_set=case_set, judges=judges)
    if is_posted and form.is_valid():
        started = _started(request, case_set, form)
        if started is not None:
            return redirect(started)
    context = {
        "case_set": case_set,
        "form": form,
        "n_judges": len(judges),
        "missing": missing_packages(),
        **_estimated(case_set, form),
    }
    status = 422 if form.errors else 200
    return render(
        request, "scoring/contextual/contextual_evaluation_new.html", context, status=status
    )


def _started(
    request: PersonRequest, case_set: CaseSet, form: EvaluationForm
) -> ContextualEvaluation | None:
    cleaned = form.cleaned_data
    names = ("judge", "threshold", "is_strict", "cost_cap")
    try:
        return start_evaluation(
            case_set=case_set,
            user=request.user,
            **{name: cleaned[name] for name in names},
            **form.settings,
        )
    except BenchmarkError as error:
        form.add_error(FIELD_OF.get(error.code), str(error))
        return None


def _estimated(case_set: CaseSet, form: EvaluationForm) -> dict[str, Any]:
    """An estimate of what the form says; of all cases by the first judge where it says nothing."""
    if form.is_bound and form.is_valid():
        judge = form.cleaned_data["judge"]
        return {"estimate": estimate(case_set, judge, **form.settings), "judge": judge}
    judge = judges_of(case_set.benchmark).first()
    return {"estimate": estimate(case_set, judge), "judge": judge}


@require_safe
@benchmark_view(Action.EDIT)
def contextual_estimate(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The part of the page that says what it would take."""
    case_set = set_of(request, benchmark, pk)
    form = EvaluationForm(request.GET or None, case_set=case_set, judges=judges_of(benchmark))
    return render(
        request, "scoring/contextual/_contextual_estimate.html", _estimated(case_set, form)
    )


def evaluation_of(request: HttpRequest, benchmark: Benchmark, pk: int) -> ContextualEvaluation:
    """The evaluation of that number in this benchmark; 404 where this person sees none."""
    return get_object_or_404(evaluations_of(benchmark, request.user), pk=pk)


def state_of(request: SiteRequest, evaluation: ContextualEvaluation) -> dict[str, Any]:
    """How far it is, for the page and for the part that changes."""
    may_edit = may(request.user, Action.EDIT, request.benchmark)
    counts = counts_of(evaluation)
    is_ended = not evaluation.is_active
    cap, is_begun = evaluation.cost_cap, evaluation.state == evaluation.State.RUNNING
    return {
        "evaluation": evaluation,
        "job": evaluation.job,
        "counts": counts,
        "may_edit": may_edit,
        "shows_cost": may_edit and evaluation.has_prices,
        "may_retry": may_edit
        and is_ended
        and evaluation.endpoint is not None
        and bool(counts.n_failed or counts.n_waiting),
        "is_cap_spent": cap is not None and counts.cost >= cap,
        "judging": gettext("asking {judge}").format(judge=evaluation.judge_name)
        if is_begun
        else gettext("waiting for a worker"),
    }


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contextual_evaluation(request: SiteRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    evaluation = evaluation_of(request, benchmark, pk)
    context = state_of(request, evaluation)
    if context["counts"].n_scored:
        results = results_of(evaluation)
        context |= {
            "results": results,
            "chart": scores_chart(results.scores),
            "agreement": agreement_with_people(evaluation),
        }
    rows = outcome_rows(evaluation)
    if evaluation.is_active:
        rows = rows.exclude(state="waiting")  # they are counted above
    others = ContextualEvaluation.objects.listed().filter(case_set=evaluation.case_set_id)
    context |= {
        "page": page_of(request, rows, OUTCOMES_A_PAGE),
        "others": list(others.exclude(pk=evaluation.pk)[:10]),
        "retry_form": RetryForm(),
    }
    return render(request, "scoring/contextual/contextual_evaluation.html", context)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contextual_progress(request: SiteRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """How far it is; once it has ended, the page is loaded as a whole."""
    evaluation = evaluation_of(request, benchmark, pk)
    context = state_of(request, evaluation)
    response = render(request, "scoring/contextual/_contextual_progress.html", context)
    if request.htmx and not evaluation.is_active:
        response["HX-Refresh"] = "true"
    return response


@require_POST
@benchmark_view(Action.EDIT)
def contextual_retry(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    evaluation = evaluation_of(request, benchmark, pk)
    form = RetryForm(request.POST)
    cap = form.cleaned_data["cost_cap"] if form.is_valid() else None
    if form.errors:
        messages.error(request, str(form.errors["cost_cap"][0]))
    else:
        retry_evaluation(evaluation=evaluation, user=request.user, cost_cap=cap)
    return redirect(evaluation)


@require_POST
@benchmark_view(Action.EDIT)
def contextual_cancel(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    evaluation = evaluation_of(request, benchmark, pk)
    cancel_evaluation(evaluation=evaluation, user=request.user)
    messages.success(request, gettext("It was cancelled; what is judged stays."))
    return redirect(evaluation)


@require_POST
@benchmark_view(Action.EDIT)
def contextual_evaluation_delete(
    request: PersonRequest, benchmark: Benchmark, pk: int
) -> HttpResponse:
    evaluation = evaluation_of(request, benchmark, pk)
    delete_evaluation(evaluation=evaluation, user=request.user)
    messages.success(request, gettext("The evaluation was deleted."))
    return redirect(evaluation.case_set)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contextual_chart(
    request: HttpRequest, benchmark: Benchmark, pk: int, format: str
) -> HttpResponse:
    """How the scores are spread."""
    evaluation = evaluation_of(request, benchmark, pk)
    return chart_response(request, scores_chart(results_of(evaluation).scores), format)
