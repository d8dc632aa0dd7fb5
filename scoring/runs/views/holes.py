"""Unjudged documents among the first of a run, by query."""

import csv

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchwright.evaluation.stored_hits import DEPTH, DEPTHS, QueryHoles
from benchwright.files.cells import safe_cell
from benchwright.formats.numbers import row_key
from scoring.models import ScoreSet
from scoring.runs.selectors import hole_rows, holes_of
from scoring.scores.services.firewall import Sight, looked_at, sight_written_down
from scoring.scores.views import run_of, score_set_of

ALL_GRADED = gettext_noop("Each document among the first of each query that is shown has a grade.")
COMPLETE = gettext_noop(
    "Documents that this release does not list are not relevant: there is nothing to judge."
)


def depth_of(text: str) -> int:
    """How far down to look: one of `DEPTHS`, the usual one where the address names none."""
    depth = row_key(text)
    return depth if depth in DEPTHS else DEPTH


def _holes(
    request: HttpRequest, benchmark: Benchmark, pk: int
) -> tuple[ScoreSet, Sight, int, list[QueryHoles]]:
    """What is unjudged; in a hidden query it would tell what is judged, so these are left out."""
    run = run_of(request, benchmark, pk)
    score_set = score_set_of(run, request.GET.get("release", ""))
    what = looked_at(score_set, "unjudged documents")
    sight = sight_written_down(request.user, score_set.release, what)
    depth = depth_of(request.GET.get("depth", ""))
    return score_set, sight, depth, holes_of(score_set, depth=depth, without=sight.hidden)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_holes(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    score_set, sight, depth, holes = _holes(request, benchmark, pk)
    page = page_of(request, holes, 20)
    context = {
        "run": score_set.run,
        "score_set": score_set,
        "release": score_set.release,
        "sight": sight,
        "depth": depth,
        "depths": DEPTHS,
        "page": page,
        "rows": hole_rows(score_set, page.object_list),
        "docids": [hole.docid for query in page.object_list for hole in query.holes],
        "n_holes": sum(len(query.holes) for query in holes),
        "nothing_unjudged": _(COMPLETE if score_set.release.is_complete else ALL_GRADED),
        "judge_url": reverse("scoring:run-top-up", args=[benchmark.slug, score_set.run_id]),
    }
    return render(request, "scoring/runs/run_holes.html", context)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_holes_csv(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """All of them as a file: query, rank, document."""
    score_set, _, depth, holes = _holes(request, benchmark, pk)
    stem = f"{benchmark.slug}-{slugify(score_set.run.name) or 'run'}-unjudged-{depth}"
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{stem}.csv"'
    writer = csv.writer(response)
    writer.writerow(["query", "rank", "document"])
    writer.writerows(
        [safe_cell(query.qid), hole.rank, safe_cell(hole.docid)]
        for query in holes
        for hole in query.holes
    )
    return response
