"""The pictures of a comparison, each at an address of its own."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchmarks_app.charts import Chart, chart_response
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchwright.comparison.aligning import OVERALL
from scoring.comparisons.charts import differences_chart, scatter_chart, slices_chart
from scoring.comparisons.services.query_differences import Wanted, query_differences
from scoring.comparisons.services.reading import Told, told_by_key
from scoring.models import ScoreSet
from scoring.scores.selectors.releases import relevance_threshold
from scoring.scores.services.firewall import sight_written_down
from scoring.scores.shown import measures_on

PLOTS = {"differences": differences_chart, "scatter": scatter_chart}


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def comparison_chart(
    request: HttpRequest,
    benchmark: Benchmark,
    key: str,
    part: int,
    run: int,
    reference: int,
    chart: str,
    format: str,
) -> HttpResponse:
    comparison = told_by_key(benchmark, key, request.user)
    if comparison is None:
        raise Http404
    slices = [row["name"] for row in comparison.slices]
    sets = {score_set.run_id: score_set for score_set in comparison.question.score_sets}
    if part >= len(slices) or run not in sets or reference not in sets:
        raise Http404
    if chart == "slices":
        drawn = _slices(comparison, str(run), str(reference))
    elif chart in PLOTS:
        drawn = _plot(request, comparison, sets[run], sets[reference], slices[part], chart)
    else:
        raise Http404
    return chart_response(request, drawn, format)


def _label(comparison: Told) -> str:
    """The measure as pages call it."""
    threshold = relevance_threshold(comparison.question.release)
    labels = {measure.name: measure.label for measure in measures_on(threshold)}
    return labels.get(comparison.question.measure, comparison.question.measure)


def _slices(comparison: Told, run: str, reference: str) -> Chart:
    pairs = [
        pair
        for part in comparison.slices
        for pair in comparison.pairs(comparison.question.measure, part["name"])
        if (pair["run"], pair["reference"]) == (run, reference)
    ]
    if not pairs:
        raise Http404
    return slices_chart(pairs, _label(comparison))


def _plot(
    request: HttpRequest,
    comparison: Told,
    run: ScoreSet,
    reference: ScoreSet,
    part: str,
    chart: str,
) -> Chart:
    release = comparison.question.release
    what = f"runs {run.run.name} and {reference.run.name} on {release.version}, by query"
    rows = query_differences(
        run=run,
        reference=reference,
        measure=comparison.question.measure,
        sight=sight_written_down(request.user, release, what),
        wanted=Wanted("" if part == OVERALL else part),
    )
    return PLOTS[chart](rows, run.run.name, reference.run.name, _label(comparison))
