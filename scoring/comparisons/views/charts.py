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
    found = told_by_key(benchmark, key, request.user)
    if found is None:
        raise Http404
    slices = [one["name"] for one in found.slices]
    sets = {one.run_id: one for one in found.question.score_sets}
    if part >= len(slices) or run not in sets or reference not in sets:
        raise Http404
    if chart == "slices":
        drawn = _slices(found, str(run), str(reference))
    elif chart in PLOTS:
        drawn = _plot(request, found, sets[run], sets[reference], slices[part], chart)
    else:
        raise Http404
    return chart_response(request, drawn, format)


def _label(found: Told) -> str:
    """The measure as pages call it."""
    threshold = relevance_threshold(found.question.release)
    labels = {shown.name: shown.label for shown in measures_on(threshold)}
    return labels.get(found.question.measure, found.question.measure)


def _slices(found: Told, run: str, reference: str) -> Chart:
    pairs = [
        one
        for part in found.slices
        for one in found.pairs(found.question.measure, part["name"])
        if (one["run"], one["reference"]) == (run, reference)
    ]
    if not pairs:
        raise Http404
    return slices_chart(pairs, _label(found))


def _plot(
    request: HttpRequest,
    found: Told,
    run: ScoreSet,
    reference: ScoreSet,
    part: str,
    chart: str,
) -> Chart:
    release = found.question.release
    what = f"runs {run.run.name} and {reference.run.name} on {release.version}, by query"
    rows = query_differences(
        run=run,
        reference=reference,
        measure=found.question.measure,
        sight=sight_written_down(request.user, release, what),
        wanted=Wanted("" if part == OVERALL else part),
    )
    return PLOTS[chart](rows, run.run.name, reference.run.name, _label(found))
