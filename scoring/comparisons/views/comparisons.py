"""Runs against each other: the page, the start of its job, and how robust a difference is."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from benchmarks_app.models import Benchmark, Release
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from benchwright.comparison.aligning import OVERALL
from benchwright.errors import ScoringError
from benchwright.evaluation.uncertainty import TIE_GROUPS
from scoring.comparisons.charts import slices_height
from scoring.comparisons.forms import AskedComparison, asked_comparison, asked_release, named_runs
from scoring.comparisons.services import comparing, comparison_rows, robustness
from scoring.comparisons.services.errors import ComparisonNotReadyError
from scoring.comparisons.services.query_differences import ORDERS, query_differences
from scoring.comparisons.services.reading import Told, told
from scoring.comparisons.views.tables import Matrix, matrix_of, slice_grid
from scoring.models import ScoreSet
from scoring.scores.selectors.boards import leaderboard
from scoring.scores.selectors.releases import published_releases, relevance_threshold
from scoring.scores.services.firewall import measure_seen, sight_of, sight_written_down
from scoring.scores.services.slice_scores import slices_compared
from scoring.scores.shown import measures_on

MOST_LISTED = 100
ORDER_LABELS = {
    "largest": "Largest difference",
    "worst": "Run's losses first",
    "best": "Run's wins first",
}


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def comparison(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    release = asked_release(request.GET, benchmark)
    if release is None:
        return render(request, "scoring/comparisons/comparison_empty.html")
    context = _choice(request, release)
    try:
        asked = asked_comparison(request.GET, request.user, release)
        if len(asked.score_sets) < 2:
            return render(request, "scoring/comparisons/comparison.html", context)
        context |= _compared(request, asked)
    except ComparisonNotReadyError as error:
        context |= {"waiting": error, "job": error.job}
    except ScoringError as error:
        context |= {"error": str(error)}
        return render(request, "scoring/comparisons/comparison.html", context, status=error.status)
    return render(request, "scoring/comparisons/comparison.html", context)


def _choice(request: HttpRequest, release: Release) -> dict[str, Any]:
    """What there is to choose from: the board's runs, those that are chosen first."""
    threshold = relevance_threshold(release)
    chosen = named_runs(request.GET)
    letters = request.GET.get("find", "").strip()
    sight = sight_of(request.user, release)
    ranked_by = measure_seen(request.user, release)
    rows = leaderboard(release=release, user=request.user, measure=ranked_by, sight=sight)
    is_chosen = {row.run.pk: str(row.run.pk) in chosen or row.run.name in chosen for row in rows}
    listed = [
        row
        for row in rows
        if is_chosen[row.run.pk] or letters.casefold() in row.run.name.casefold()
    ]
    listed.sort(key=lambda row: not is_chosen[row.run.pk])
    n_chosen = sum(is_chosen.values())
    return {
        "release": release,
        "releases": list(published_releases(release.benchmark)),
        "measures": [one for one in measures_on(threshold) if sight.tells(one.name)],
        "slices": slices_compared(release, is_public=not sight.is_clear),
        "ranked_by": ranked_by,
        "rows": listed[: max(MOST_LISTED, n_chosen)],
        "n_rows": len(rows),
        "is_cut": len(listed) > max(MOST_LISTED, n_chosen),
        "is_chosen": is_chosen,
        "n_chosen": n_chosen,
        "letters": letters,
        "asked_measure": request.GET.get("measure", "") or request.GET.get("m", ""),
        "query": request.GET.urlencode(),
    }


def _compared(request: HttpRequest, asked: AskedComparison) -> dict[str, Any]:
    question = asked.question
    found = told(question, comparing.answer(question, request.user), request.user)
    run, reference = asked.pair()
    keys = (str(run.run_id), str(reference.run_id))
    measure, part = asked.measure.name, asked.slice_name or OVERALL
    page = _queries(request, asked, run, reference)
    return {
        "asked": asked,
        "measure": asked.measure,
        "told": found,
        "pair": _Shown(run, reference),
        "part": part,
        "verdict": found.comparability,
        "tie_groups": TIE_GROUPS,
        "judge_url": _judge_url(request, asked, found),
        "summaries": found.summaries(measure, part),
        "pairs": found.pairs(measure, part) if question.is_table else [],
        "matrix": None if question.is_table else _matrix(found, measure, part),
        "grid": slice_grid(found, keys) if question.is_table and _is_pair(found, keys) else None,
        "patterns": found.patterns(*keys) if question.is_table else [],
        "charts": _charts(found, asked, run, reference),
        "slices_height": slices_height(len(found.slices)),
        "page": page,
        "orders": [(name, ORDER_LABELS[name]) for name in ORDERS],
        "share_query": _query_of(asked, run, reference),
    }


@dataclass(frozen=True)
class _Shown:
    """The two runs whose queries are listed."""

    run: ScoreSet
    reference: ScoreSet


def _is_pair(found: Told, keys: tuple[str, str]) -> bool:
    pairs = found.pairs(found.question.measure)
    return any((one["run"], one["reference"]) == keys for one in pairs)


def _matrix(found: Told, measure: str, part: str) -> Matrix:
    return matrix_of(found.summaries(measure, part), found.pairs(measure, part))


def _queries(
    request: HttpRequest, asked: AskedComparison, run: ScoreSet, reference: ScoreSet
) -> dict[str, Any]:
    what = f"runs {run.run.name} and {reference.run.name} on {run.release.version}, by query"
    sight = sight_written_down(request.user, run.release, what)
    rows = query_differences(
        run=run,
        reference=reference,
        measure=asked.measure.name,
        sight=sight,
        wanted=asked.wanted,
    )
    return {
        "rows": page_of(request, rows, 25),
        "n_withheld": len(sight.hidden),
        "wanted": asked.wanted,
    }


def _charts(
    found: Told, asked: AskedComparison, run: ScoreSet, reference: ScoreSet
) -> list[tuple[str, str]]:
    """(name, address) of each chart of the pair."""
    names = [one["name"] for one in found.slices]
    part = names.index(asked.slice_name) if asked.slice_name in names else 0
    wanted = ["differences", "scatter"]
    if found.question.is_table and len(names) > 1:
        wanted.insert(0, "slices")
    slug = asked.release.benchmark.slug
    place = [slug, found.row.key, part, run.run_id, reference.run_id]
    return [
        (name, reverse("scoring:comparison-chart", args=[*place, name, "svg"])) for name in wanted
    ]


def _query_of(asked: AskedComparison, run: ScoreSet, reference: ScoreSet) -> str:
    """The parameters that lead to the same comparison of the same pair."""
    query: dict[str, str | int] = {
        "runs": ",".join(str(one.run_id) for one in asked.score_sets),
        "release": asked.release.version,
        "m": asked.measure.label,
    }
    if asked.baseline:
        query["baseline"] = asked.baseline.run_id
    query |= {"run": run.run_id, "against": reference.run_id}
    if asked.slice_name:
        query["slice"] = asked.slice_name
    return urlencode(query)


def _judge_url(request: HttpRequest, asked: AskedComparison, found: Told) -> str:
    """Where the unjudged documents of these runs are handed to judging, if there are any."""
    if not found.result["n_unjudged"]:
        return ""
    try:
        page = reverse("scoring:top-up-new", args=[asked.release.benchmark.slug])
    except NoReverseMatch:
        return ""
    runs = ",".join(str(one.run_id) for one in asked.score_sets)
    return f"{page}?{urlencode({'runs': runs, 'release': asked.release.version})}"


@require_POST
@benchmark_view(Action.SEE_RESULTS)
def comparison_start(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Start the job of a comparison (or, with `what=robustness`, of a pair's grid)."""
    release = asked_release(request.POST, benchmark)
    if release is None or not request.user.is_authenticated:
        return redirect("scoring:comparison", benchmark.slug)
    asked = asked_comparison(request.POST, request.user, release)
    if len(asked.score_sets) < 2:
        return redirect("scoring:comparison", benchmark.slug)
    if request.POST.get("what") == "robustness":
        grid = asked.robustness_question()
        row, url = robustness.start_robustness(grid, request.user), grid.url
    else:
        row, url = comparing.start_comparison(asked.question, request.user), asked.question.url
    if row.job is None or row.result:
        return redirect(url)
    messages.success(request, "It is being worked out.")
    return redirect(row.job)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def comparison_robustness(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    """The grid of a pair: a part of the comparison, or a page of its own without htmx."""
    release = asked_release(request.GET, benchmark)
    if release is None:
        return render(request, "scoring/comparisons/comparison_empty.html")
    context: dict[str, Any] = {"release": release}
    status = 200
    try:
        asked = asked_comparison(request.GET, request.user, release)
        if len(asked.score_sets) < 2:
            return redirect("scoring:comparison", benchmark.slug)
        context |= _grid(request, asked)
    except ComparisonNotReadyError as error:
        context |= {"waiting": error, "job": error.job}
    except ScoringError as error:
        context |= {"error": str(error)}
        status = 200 if request.htmx else error.status
    name = "_comparison_robustness" if request.htmx else "comparison_robustness"
    return render(request, f"scoring/comparisons/{name}.html", context, status=status)


def _grid(request: HttpRequest, asked: AskedComparison) -> dict[str, Any]:
    run, reference = asked.pair()
    shown = {
        "asked": asked,
        "pair": _Shown(run, reference),
        "share_query": _query_of(asked, run, reference),
    }
    try:
        row = robustness.robustness(asked.robustness_question(), request.user)
    except ComparisonNotReadyError as error:
        return shown | {"waiting": error, "job": error.job}
    return shown | {"grid": comparison_rows.result_of(row)}
