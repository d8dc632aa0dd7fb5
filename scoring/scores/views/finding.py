"""The run and the scores that an address names."""

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from benchmarks_app.models import Benchmark, Release, Run
from scoring.models import ScoreSet
from scoring.scores.selectors.releases import newest_release, release_of_version
from scoring.scores.selectors.runs import score_sets_of_run, score_sheets_of_run
from scoring.scores.services.held import ScoresSeen, scores_seen


def release_or_404(benchmark: Benchmark, version: str) -> Release:
    release = release_of_version(benchmark, version)
    if release is None:
        raise Http404
    return release


def release_of(benchmark: Benchmark, version: str) -> Release | None:
    """The release that is asked for, the newest where none is; None where there is none yet."""
    return release_or_404(benchmark, version) if version else newest_release(benchmark)


def run_of(request: HttpRequest, benchmark: Benchmark, pk: int) -> Run:
    """The run, if this person may see it."""
    visible = Run.objects.visible_to(request.user).select_related("owner", "team", "benchmark")
    return get_object_or_404(visible, benchmark=benchmark, pk=pk)


def score_set_of(run: Run, version: str) -> ScoreSet:
    """The score set of the release that is asked for, of the newest where none is."""
    for score_set in score_sets_of_run(run):
        if not version or score_set.release.version == version:
            score_set.run = run
            return score_set
    raise Http404


def scores_as_seen(request: HttpRequest, run: Run) -> list[ScoresSeen]:
    """All scores of a run, the newest release first, each as this person may see it."""
    sheets = score_sheets_of_run(run)
    for sheet in sheets:
        sheet.score_set.run = run
    return [scores_seen(sheet, request.user) for sheet in sheets]
