"""A comparison to take away: its summary and its queries as CSV, JSON or Markdown."""

import csv
import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchwright.files.cells import safe_cell
from scoring.comparisons.forms import AskedComparison, asked_comparison, asked_release
from scoring.comparisons.services import comparing
from scoring.comparisons.services.query_differences import QueryDifference, query_differences
from scoring.comparisons.services.reading import told
from scoring.comparisons.services.texts import queries_markdown, summary_markdown
from scoring.models import ScoreSet
from scoring.scores.services.firewall import sight_written_down

MARKDOWN = "text/markdown; charset=utf-8"


def _asked(request: HttpRequest, benchmark: Benchmark) -> AskedComparison:
    release = asked_release(request.GET, benchmark)
    if release is None:
        raise Http404
    choice = asked_comparison(request.GET, request.user, release)
    if len(choice.score_sets) < 2:
        raise Http404
    return choice


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def comparison_summary(request: HttpRequest, benchmark: Benchmark, format: str) -> HttpResponse:
    """Everything about the comparison but its queries, as `json` or `md`."""
    if format not in ("json", "md"):
        raise Http404
    question = _asked(request, benchmark).question
    comparison = told(question, comparing.answer(question, request.user), request.user)
    if format == "json":
        answer: HttpResponse = JsonResponse(comparison.as_dict(), json_dumps_params={"indent": 1})
    else:
        answer = HttpResponse(summary_markdown(comparison), content_type=MARKDOWN)
    return _named(answer, f"{benchmark.slug}-{question.release.version}-comparison.{format}")


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def comparison_queries(request: HttpRequest, benchmark: Benchmark, format: str) -> HttpResponse:
    """The queries of a pair as they are listed, all of them, as `csv`, `json` or `md`."""
    if format not in ("csv", "json", "md"):
        raise Http404
    choice = _asked(request, benchmark)
    run, reference = choice.pair()
    what = f"runs {run.run.name} and {reference.run.name} on {run.release.version}, by query"
    rows = query_differences(
        run=run,
        reference=reference,
        measure=choice.measure.name,
        sight=sight_written_down(request.user, choice.release, what),
        wanted=choice.wanted,
    )
    answer = _FORMATS[format](rows, run, reference, choice)
    return _named(answer, f"{benchmark.slug}-{choice.release.version}-differences.{format}")


def _csv(
    rows: list[QueryDifference], run: ScoreSet, reference: ScoreSet, choice: AskedComparison
) -> HttpResponse:
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    writer = csv.writer(answer)
    writer.writerow(
        ["query", "text", safe_cell(run.run.name), safe_cell(reference.run.name), "difference"]
    )
    writer.writerows(
        [safe_cell(row.qid), safe_cell(row.text), *map(repr, _values(row))] for row in rows
    )
    return answer


def _json(
    rows: list[QueryDifference], run: ScoreSet, reference: ScoreSet, choice: AskedComparison
) -> HttpResponse:
    content = {
        "release": choice.release.version,
        "measure": choice.measure.name,
        "slice": choice.slice_name or None,
        "run": run.run.name,
        "reference": reference.run.name,
        "queries": [
            dict(zip(("query", "text", "run", "reference", "difference"), of, strict=True))
            for row in rows
            for of in [(row.qid, row.text, *_values(row))]
        ],
    }
    return HttpResponse(json.dumps(content, indent=1), content_type="application/json")


def _markdown(
    rows: list[QueryDifference], run: ScoreSet, reference: ScoreSet, choice: AskedComparison
) -> HttpResponse:
    text = queries_markdown(rows, run.run.name, reference.run.name)
    return HttpResponse(text, content_type=MARKDOWN)


_FORMATS: dict[str, Any] = {"csv": _csv, "json": _json, "md": _markdown}


def _values(row: QueryDifference) -> tuple[float, float, float]:
    return row.run, row.reference, row.difference


def _named(answer: HttpResponse, name: str) -> HttpResponse:
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
