"""The result lists of a comparison's runs for one query."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark, Query
from benchmarks_app.permissions import Action, benchmark_view
from scoring.comparisons.forms import AskedComparison, asked_comparison, asked_release
from scoring.comparisons.services.errors import ComparisonSignInError
from scoring.comparisons.services.query_differences import neighbours, query_differences
from scoring.comparisons.services.side_by_side import DEPTHS, result_lists
from scoring.scores.selectors.releases import measures_stored, release_query_texts
from scoring.scores.services.firewall import Sight, sight_written_down

MOST_COLUMNS = 6


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def side_by_side(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """`?qid=` names the query; without it, the one with the largest difference."""
    release = asked_release(request.GET, benchmark)
    if release is None:
        return render(request, "scoring/comparisons/comparison_empty.html")
    choice = asked_comparison(request.GET, request.user, release)
    if len(choice.score_sets) < 2:
        return redirect("scoring:comparison", benchmark.slug)
    is_stored = choice.measure.name in measures_stored(release)
    if not is_stored and not request.user.is_authenticated:
        raise ComparisonSignInError
    run, reference = choice.pair()
    sight = sight_written_down(
        request.user, release, f"results of {run.run.name} on {release.version}, by query"
    )
    rows = query_differences(
        run=run, reference=reference, measure=choice.measure.name, sight=sight, wanted=choice.wanted
    )
    qid = request.GET.get("qid", "") or (rows[0].qid if rows else "")
    _refuse_withheld(qid, choice, sight)
    context = _lists(choice, qid) | {
        "release": release,
        "asked": choice,
        "difference": next((row for row in rows if row.qid == qid), None),
        "near": neighbours(rows, qid),
        "depths": DEPTHS,
        "share_query": _query_of(choice),
        "run": run.run,
        "reference": reference.run,
    }
    return render(request, "scoring/comparisons/side_by_side.html", context)


def _refuse_withheld(qid: str, choice: AskedComparison, sight: Sight) -> None:
    """A query of a hidden split is as one that is not there."""
    if not qid or qid in sight.hidden or qid not in release_query_texts(choice.release):
        raise Http404


def _lists(choice: AskedComparison, qid: str) -> dict[str, Any]:
    run, reference = choice.pair()
    others = [score_set for score_set in choice.score_sets if score_set not in (run, reference)]
    columns = [reference, run, *others][:MOST_COLUMNS]
    release = choice.release
    lists = result_lists(
        release=release, runs=[score_set.run for score_set in columns], qid=qid, depth=choice.depth
    )
    queries = Query.objects.filter(benchmark=release.benchmark_id, qid=qid)
    return {
        "qid": qid,
        "query": queries.first(),
        "text": release_query_texts(release)[qid],
        "lists": lists,
        "columns": list(zip([score_set.run for score_set in columns], lists.columns, strict=True)),
        "n_left_out": len(choice.score_sets) - len(columns),
        "names": {str(score_set.run_id): score_set.run.name for score_set in columns},
    }


def _query_of(choice: AskedComparison) -> str:
    """The parameters that lead to the same lists, but for the query."""
    names = ("run", "against", "slice", "order", "q", "depth", "baseline", "m", "measure")
    params = {name: value for name in names if (value := choice.params.get(name))}
    runs = ",".join(str(score_set.run_id) for score_set in choice.score_sets)
    return urlencode({"runs": runs, "release": choice.release.version, **params})
