"""Runs against each other: the page, the start of its job, and how robust a difference is."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from benchmarks_app import language
from benchmarks_app.models import Benchmark, Release, Run
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
from scoring.comparisons.services.verdicts import best_of, verdict_of
from scoring.comparisons.views.tables import forest_of, matrix_of, slice_grid
from scoring.models import ScoreSet
from scoring.scores.selectors.boards import leaderboard
from scoring.scores.selectors.releases import published_releases, relevance_threshold
from scoring.scores.services.firewall import measure_seen, sight_of, sight_written_down
from scoring.scores.services.slice_scores import slices_compared
from scoring.scores.shown import measures_on

MOST_LISTED = 100
MOST_PARTNERS = 5
MOST_EXTREMES = 3
# Parameters of the list of queries, which stays folded without them.
ASKED_OF_QUERIES = ("q", "slice", "order", "page")
ORDER_LABELS = {
    "largest": gettext_lazy("Largest difference"),
    "worst": gettext_lazy("Run's losses first"),
    "best": gettext_lazy("Run's wins first"),
}


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def comparison(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    """The page, or its verdict alone for htmx, which shows it on the page of a run."""
    release = asked_release(request.GET, benchmark)
    if release is None:
        return render(request, "scoring/comparisons/comparison_empty.html")
    context, status = _choice(request, release), 200
    try:
        choice = asked_comparison(request.GET, request.user, release)
        if len(choice.score_sets) < 2:
            context |= _partners(context, choice)
        else:
            context |= _compared(request, choice)
    except ComparisonNotReadyError as error:
        context |= {"waiting": error, "job": error.job}
    except ScoringError as error:
        context |= {"error": language.told(error)}
        status = 200 if request.htmx else error.status
    name = "_comparison_brief" if request.htmx else "comparison"
    return render(request, f"scoring/comparisons/{name}.html", context, status=status)


def _choice(request: HttpRequest, release: Release) -> dict[str, Any]:
    """What there is to choose from: the board's runs, those that are chosen first."""
    threshold = relevance_threshold(release)
    chosen = named_runs(request.GET, request.user, release.benchmark)
    letters = request.GET.get("find", "").strip()
    sight = sight_of(request.user, release)
    ranked_by = measure_seen(request.user, release)
    rows = leaderboard(
        release=release, user=request.user, measure=ranked_by, sight=sight, is_alone=True
    )
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
        "measures": [measure for measure in measures_on(threshold) if sight.tells(measure.name)],
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


def _partners(context: dict[str, Any], choice: AskedComparison) -> dict[str, Any]:
    """What the one run that is chosen may be compared with: baselines first, then the best."""
    if len(choice.score_sets) != 1:
        return {}
    alone = choice.score_sets[0].run
    others = [row.run for row in context["rows"] if row.run.pk != alone.pk]
    others.sort(key=lambda run: run.kind != Run.Kind.BASELINE)
    return {"alone": alone, "partners": others[:MOST_PARTNERS]}


def _compared(request: HttpRequest, choice: AskedComparison) -> dict[str, Any]:
    question = choice.question
    answer = told(question, comparing.answer(question, request.user), request.user)
    run, reference = choice.pair()
    keys = (str(run.run_id), str(reference.run_id))
    measure, part = choice.measure.name, choice.slice_name or OVERALL
    page = _queries(request, choice, run, reference)
    verdict = verdict_of(answer, *keys, part, choice.measure.label)
    return {
        "asked": choice,
        "measure": choice.measure,
        "told": answer,
        "pair": _Shown(run, reference),
        "part": part,
        "verdict": answer.comparability,
        "said": verdict,
        "best": best_of(answer, part) if len(answer.runs) > 2 else "",
        "forest": forest_of(verdict) if verdict and len(verdict.slices) > 1 else None,
        "has_asked_queries": any(request.GET.get(name) for name in ASKED_OF_QUERIES),
        "swapped": _swapped(choice) if len(answer.runs) == 2 else "",
        "tie_groups": TIE_GROUPS,
        "judge_url": _judge_url(request, choice, answer),
        "summaries": answer.summaries(measure, part),
        "pairs": answer.pairs(measure, part) if question.is_table else [],
        "matrix": None
        if question.is_table
        else matrix_of(answer.summaries(measure, part), answer.pairs(measure, part)),
        "grid": slice_grid(answer, keys) if question.is_table and _is_pair(answer, keys) else None,
        "patterns": answer.patterns(*keys) if question.is_table else [],
        "charts": _charts(answer, choice, run, reference),
        "slices_height": slices_height(len(answer.slices)),
        "page": page,
        "orders": [(name, ORDER_LABELS[name]) for name in ORDERS],
        "share_query": _query_of(choice, run, reference),
    }


@dataclass(frozen=True)
class _Shown:
    """The two runs whose queries are listed."""

    run: ScoreSet
    reference: ScoreSet


def _is_pair(answer: Told, keys: tuple[str, str]) -> bool:
    pairs = answer.pairs(answer.question.measure)
    return any((pair["run"], pair["reference"]) == keys for pair in pairs)


def _queries(
    request: HttpRequest, choice: AskedComparison, run: ScoreSet, reference: ScoreSet
) -> dict[str, Any]:
    what = f"runs {run.run.name} and {reference.run.name} on {run.release.version}, by query"
    sight = sight_written_down(request.user, run.release, what)
    rows = query_differences(
        run=run,
        reference=reference,
        measure=choice.measure.name,
        sight=sight,
        wanted=choice.wanted,
    )
    ordered = sorted(rows, key=lambda row: (row.difference, row.qid))
    losses = [row for row in ordered if row.outcome == "loss"]
    wins = [row for row in reversed(ordered) if row.outcome == "win"]
    return {
        "rows": page_of(request, rows, 25),
        "n_withheld": len(sight.hidden),
        "wanted": choice.wanted,
        "extremes": [
            (_("Where it loses"), "worst", losses[:MOST_EXTREMES], len(losses)),
            (_("Where it wins"), "best", wins[:MOST_EXTREMES], len(wins)),
        ],
    }


def _charts(
    answer: Told, choice: AskedComparison, run: ScoreSet, reference: ScoreSet
) -> list[tuple[str, str]]:
    """(name, address) of each chart of the pair."""
    names = [row["name"] for row in answer.slices]
    part = names.index(choice.slice_name) if choice.slice_name in names else 0
    chart_names = ["differences", "scatter"]
    if answer.question.is_table and len(names) > 1:
        chart_names.insert(0, "slices")
    slug = choice.release.benchmark.slug
    place = [slug, answer.row.key, part, run.run_id, reference.run_id]
    return [
        (name, reverse("scoring:comparison-chart", args=[*place, name, "svg"]))
        for name in chart_names
    ]


def _query_of(choice: AskedComparison, run: ScoreSet, reference: ScoreSet) -> str:
    """The parameters that lead to the same comparison of the same pair."""
    query: dict[str, str | int] = {
        "runs": ",".join(str(score_set.run_id) for score_set in choice.score_sets),
        "release": choice.release.version,
        "m": choice.measure.label,
    }
    if choice.baseline:
        query["baseline"] = choice.baseline.run_id
    query |= {"run": run.run_id, "against": reference.run_id}
    if choice.slice_name:
        query["slice"] = choice.slice_name
    return urlencode(query)


def _swapped(choice: AskedComparison) -> str:
    """The parameters of the same comparison with run and reference exchanged."""
    run, reference = choice.pair()
    query: dict[str, str | int] = {
        "runs": f"{run.run_id},{reference.run_id}",
        "release": choice.release.version,
        "m": choice.measure.label,
    }
    if choice.slice_name:
        query["slice"] = choice.slice_name
    return urlencode(query)


def _judge_url(request: HttpRequest, choice: AskedComparison, answer: Told) -> str:
    """Where the unjudged documents of these runs are handed to judging, if there are any."""
    if not answer.result["n_unjudged"]:
        return ""
    try:
        page = reverse("scoring:top-up-new", args=[choice.release.benchmark.slug])
    except NoReverseMatch:
        return ""
    runs = ",".join(str(score_set.run_id) for score_set in choice.score_sets)
    return f"{page}?{urlencode({'runs': runs, 'release': choice.release.version})}"


@require_POST
@benchmark_view(Action.SEE_RESULTS)
def comparison_start(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Start the job of a comparison (or, with `what=robustness`, of a pair's grid)."""
    release = asked_release(request.POST, benchmark)
    if release is None or not request.user.is_authenticated:
        return redirect("scoring:comparison", benchmark.slug)
    choice = asked_comparison(request.POST, request.user, release)
    if len(choice.score_sets) < 2:
        return redirect("scoring:comparison", benchmark.slug)
    if request.POST.get("what") == "robustness":
        grid = choice.robustness_question()
        row, url = robustness.start_robustness(grid, request.user), grid.url
    else:
        row, url = comparing.start_comparison(choice.question, request.user), choice.question.url
    if row.job is None or row.result:
        return redirect(url)
    messages.success(request, _("It is being worked out."))
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
        choice = asked_comparison(request.GET, request.user, release)
        if len(choice.score_sets) < 2:
            return redirect("scoring:comparison", benchmark.slug)
        context |= _grid(request, choice)
    except ComparisonNotReadyError as error:
        context |= {"waiting": error, "job": error.job}
    except ScoringError as error:
        context |= {"error": language.told(error)}
        status = 200 if request.htmx else error.status
    name = "_comparison_robustness" if request.htmx else "comparison_robustness"
    return render(request, f"scoring/comparisons/{name}.html", context, status=status)


def _grid(request: HttpRequest, choice: AskedComparison) -> dict[str, Any]:
    run, reference = choice.pair()
    context = {
        "asked": choice,
        "pair": _Shown(run, reference),
        "share_query": _query_of(choice, run, reference),
    }
    try:
        row = robustness.robustness(choice.robustness_question(), request.user)
    except ComparisonNotReadyError as error:
        return context | {"waiting": error, "job": error.job}
    return context | {"grid": comparison_rows.result_of(row)}
