"""The result lists of a comparison's runs for one query."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark, Query
from benchmarks_app.permissions import Action, benchmark_view
from scoring.comparisons.forms import AskedComparison, asked_comparison, asked_release
from scoring.comparisons.services.query_differences import neighbours, query_differences
from scoring.comparisons.services.side_by_side import DEPTHS, result_lists
from scoring.scores.selectors.releases import release_query_texts
from scoring.scores.services.firewall import Sight, sight_written_down

MOST_COLUMNS = 6


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def side_by_side(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """`?qid=` names the query; without it, the one with the largest difference."""
    release = asked_release(request.GET, benchmark)
    if release is None:
        return render(request, "scoring/comparisons/comparison_empty.html")
    asked = asked_comparison(request.GET, request.user, release)
    if len(asked.score_sets) < 2:
        return redirect("scoring:comparison", benchmark.slug)
    run, reference = asked.pair()
    sight = sight_written_down(
        request.user, release, f"results of {run.run.name} on {release.version}, by query"
    )
    rows = query_differences(
        run=run, reference=reference, measure=asked.measure.name, sight=sight, wanted=asked.wanted
    )
    qid = request.GET.get("qid", "") or (rows[0].qid if rows else "")
    _refuse_withheld(qid, asked, sight)
    context = _lists(asked, qid) | {
        "release": release,
        "asked": asked,
        "difference": next((row for row in rows if row.qid == qid), None),
        "near": neighbours(rows, qid),
        "depths": DEPTHS,
        "share_query": _query_of(asked),
        "run": run.run,
        "reference": reference.run,
    }
    return render(request, "scoring/comparisons/side_by_side.html", context)


def _refuse_withheld(qid: str, asked: AskedComparison, sight: Sight) -> None:
    """A query of a hidden split is as one that is not there."""
    if not qid or qid in sight.hidden or qid not in release_query_texts(asked.release):
        raise Http404


def _lists(asked: AskedComparison, qid: str) -> dict[str, Any]:
    run, reference = asked.pair()
    others = [one for one in asked.score_sets if one not in (run, reference)]
    shown = [reference, run, *others][:MOST_COLUMNS]
    release = asked.release
    found = result_lists(
        release=release, runs=[one.run for one in shown], qid=qid, depth=asked.depth
    )
    known = Query.objects.filter(benchmark=release.benchmark_id, qid=qid)
    return {
        "qid": qid,
        "query": known.first(),
        "text": release_query_texts(release)[qid],
        "lists": found,
        "columns": list(zip([one.run for one in shown], found.columns, strict=True)),
        "n_left_out": len(asked.score_sets) - len(shown),
        "names": {str(one.run_id): one.run.name for one in shown},
    }


def _query_of(asked: AskedComparison) -> str:
    """The parameters that lead to the same lists, but for the query."""
    kept = ("run", "against", "slice", "order", "q", "depth", "baseline", "m", "measure")
    given = {name: value for name in kept if (value := asked.params.get(name))}
    runs = ",".join(str(one.run_id) for one in asked.score_sets)
    return urlencode({"runs": runs, "release": asked.release.version, **given})
