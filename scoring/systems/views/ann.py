"""What an approximate index loses against exact search of the same model."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from benchmarks_app.charts import chart_response
from benchmarks_app.models import Benchmark, Query, Run
from benchmarks_app.permissions import Action, benchmark_view
from benchwright.retrieval.ann import USUAL_BASELINE
from scoring.planning.charts import recall_chart
from scoring.scores.selectors.rankings import runs_offered
from scoring.scores.selectors.releases import newest_release
from scoring.scores.services.firewall import sight_of
from scoring.systems.forms.ann import AnnForm
from scoring.systems.services.ann import DEEPEST, N_WORST, AnnReport, ann_report


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def ann(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Recall of `?approximate=` against `?exact=`; without both, they can be chosen."""
    runs = runs_offered(benchmark, request.user)
    is_asked = "exact" in request.GET or "approximate" in request.GET
    form = AnnForm(request.GET if is_asked else None, runs=runs)
    release = newest_release(benchmark)
    context: dict[str, Any] = {"form": form, "n_runs": runs.count(), "release": release}
    if is_asked and form.is_valid():
        cleaned = form.cleaned_data
        hidden = sight_of(request.user, release).hidden if release else frozenset()
        report = ann_report(release=release, hidden=hidden, **cleaned)
        context |= {**cleaned, **shown(benchmark, report), "baseline": USUAL_BASELINE}
        context["n_left_out"] = len(hidden)
    return render(request, "scoring/systems/ann.html", context, status=422 if form.errors else 200)


def shown(benchmark: Benchmark, report: AnnReport) -> dict[str, Any]:
    """The report, and the queries of which the index finds least."""
    worst = report.recall.worst(N_WORST)
    rows = Query.objects.filter(benchmark=benchmark, qid__in=[row.qid for row in worst])
    by_qid = {query.qid: query for query in rows.only("pk", "qid", "text", "metadata")}
    return {
        "report": report,
        "recall": report.recall,
        "rows": [(row, row.loss) for row in (report.overall, *report.slices)],
        "loss": report.overall.loss,
        "worst": [
            (row, by_qid.get(row.qid), report.differences.get(row.qid))
            for row in worst
            if row.recall < 1
        ],
    }


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def ann_chart(
    request: HttpRequest, benchmark: Benchmark, exact: int, approximate: int, k: int, format: str
) -> HttpResponse:
    runs = Run.objects.visible_to(request.user).filter(benchmark=benchmark)
    if not 1 <= k <= DEEPEST:
        raise Http404
    report = ann_report(
        exact=get_object_or_404(runs, pk=exact),
        approximate=get_object_or_404(runs, pk=approximate),
        release=newest_release(benchmark),
        k=k,
    )
    if not report.recall.queries:
        raise Http404
    return chart_response(request, recall_chart(report.recall), format)
