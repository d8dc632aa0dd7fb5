"""Results case by case: one of them, two evaluations beside each other, and files."""

import csv
import json
from collections.abc import Iterator
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchwright.files.cells import Echo, safe_cell
from scoring.contextual.forms import ComparisonForm
from scoring.contextual.selectors import images_by_name, parts_shown
from scoring.contextual.services.results import arithmetic_of, compare
from scoring.contextual.views.contextual import set_of
from scoring.contextual.views.evaluations import evaluation_of
from scoring.models import CaseOutcome, ContextualEvaluation

PAIRS_A_PAGE = 50
COLUMNS = (
    "case",
    "state",
    "score",
    "success",
    "verdicts",
    "reason",
    "error_code",
    "error",
    "slices",
)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contextual_case(
    request: HttpRequest, benchmark: Benchmark, pk: int, number: int
) -> HttpResponse:
    evaluation = evaluation_of(request, benchmark, pk)
    rows = evaluation.outcomes.select_related("case")
    outcome = get_object_or_404(rows, case__number=number)
    images = images_by_name(evaluation.case_set)
    content = outcome.case.content
    numbers = evaluation.outcomes.values_list("case__number", flat=True)
    context = {
        "evaluation": evaluation,
        "outcome": outcome,
        "case": outcome.case,
        "asked": parts_shown(content["input"], images),
        "expected": parts_shown(content["expected_output"], images),
        "actual": parts_shown(content.get("actual_output"), images),
        "nodes": _nodes(outcome, images),
        "arithmetic": arithmetic_of(outcome, is_strict=evaluation.is_strict),
        "sees_answers": may(request.user, Action.EDIT, benchmark),
        "before": numbers.filter(case__number__lt=number).order_by("-case__number").first(),
        "after": numbers.filter(case__number__gt=number).order_by("case__number").first(),
    }
    return render(request, "scoring/contextual/contextual_case.html", context)


def _nodes(outcome: CaseOutcome, images: Any) -> list[dict[str, Any]]:
    verdicts = {verdict["node"]: verdict for verdict in outcome.verdicts}
    return [
        {
            "rank": rank,
            "name": f"Node {rank}",
            "parts": parts_shown(node, images),
            "verdict": verdicts.get(rank),
        }
        for rank, node in enumerate(outcome.case.content["retrieval_context"], start=1)
    ]


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contextual_compare(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """What changed from one evaluation of a set to another, case by case."""
    case_set = set_of(request, benchmark, pk)
    evaluations = case_set.evaluations.listed()
    is_asked = "before" in request.GET or "after" in request.GET
    form = ComparisonForm(request.GET if is_asked else None, evaluations=evaluations)
    context: dict[str, Any] = {
        "case_set": case_set,
        "form": form,
        "n_evaluations": evaluations.count(),
    }
    if is_asked and form.is_valid():
        cleaned = form.cleaned_data
        compared = compare(cleaned["before"], cleaned["after"])
        context |= {**cleaned, "compared": compared}
        context["page"] = page_of(request, compared.pairs, PAIRS_A_PAGE)
    status = 422 if form.errors else 200
    return render(request, "scoring/contextual/contextual_compare.html", context, status=status)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contextual_export(
    request: HttpRequest, benchmark: Benchmark, pk: int, format: str
) -> HttpResponseBase:
    """Every case with its verdicts, as CSV or JSON."""
    evaluation = evaluation_of(request, benchmark, pk)
    if format == "csv":
        response = StreamingHttpResponse(_csv(evaluation), content_type="text/csv; charset=utf-8")
    elif format == "json":
        response = StreamingHttpResponse(_json(evaluation), content_type="application/json")
    else:
        raise Http404
    name = f"contextual-{evaluation.pk}.{format}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def outcome_facts(outcome: CaseOutcome) -> dict[str, Any]:
    """An outcome for files and the API: what the judge said, not what it wrote."""
    return {
        "case": outcome.case.case_id,
        "number": outcome.case.number,
        "state": outcome.state,
        "score": outcome.score,
        "success": outcome.is_success,
        "verdicts": outcome.verdicts,
        "reason": outcome.reason,
        "error_code": outcome.error_code,
        "error": outcome.error,
        "slices": outcome.case.slices,
    }


def _rows(evaluation: ContextualEvaluation) -> Iterator[dict[str, Any]]:
    rows = evaluation.outcomes.select_related("case").defer("answers", "case__content")
    for outcome in rows.order_by("case__number").iterator(chunk_size=500):
        yield outcome_facts(outcome)


def _csv(evaluation: ContextualEvaluation) -> Iterator[str]:
    writer = csv.writer(Echo())
    yield writer.writerow(COLUMNS)
    for row in _rows(evaluation):
        words = " ".join("yes" if verdict["is_relevant"] else "no" for verdict in row["verdicts"])
        cells = {**row, "verdicts": words, "slices": " ".join(row["slices"])}
        yield writer.writerow([safe_cell(cells[name]) for name in COLUMNS])


def _json(evaluation: ContextualEvaluation) -> Iterator[str]:
    facts = {
        "case_set": evaluation.case_set.name,
        "judge": evaluation.judge_name,
        "model": evaluation.model,
        "threshold": evaluation.threshold,
        "strict": evaluation.is_strict,
        "prompt_hash": evaluation.prompt_hash,
        "state": evaluation.state,
    }
    yield json.dumps(facts, ensure_ascii=False)[:-1] + ', "cases": ['
    for place, row in enumerate(_rows(evaluation)):
        yield ("" if place == 0 else ",") + "\n" + json.dumps(row, ensure_ascii=False)
    yield "\n]}\n"
