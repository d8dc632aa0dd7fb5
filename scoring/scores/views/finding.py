"""The run and the scores that an address names."""

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from benchmarks_app.models import Benchmark, Run
from scoring.models import ScoreSet
from scoring.scores.selectors.releases import declared_measures
from scoring.scores.selectors.runs import score_sets_of_run
from scoring.scores.services.firewall import as_seen, sight_of
from scoring.scores.services.held import held_of


def run_of(request: HttpRequest, benchmark: Benchmark, pk: int) -> Run:
    """The run, if this person may see it."""
    seen = Run.objects.visible_to(request.user).select_related("owner", "team", "benchmark")
    return get_object_or_404(seen, benchmark=benchmark, pk=pk)


def score_set_of(run: Run, version: str) -> ScoreSet:
    """The score set of the release that is asked for, of the newest where none is."""
    for score_set in score_sets_of_run(run):
        if not version or score_set.release.version == version:
            score_set.run = run
            return score_set
    raise Http404


def score_sets_as_seen(request: HttpRequest, run: Run) -> list[ScoreSet]:
    """All score sets of a run, each as this person may see it."""
    found = score_sets_of_run(run)
    for one in found:
        one.run = run
        one.sight = sight_of(request.user, one.release)
        labels = {of.name: of.label for of in declared_measures(one.release)}
        one.held = held_of(one.sight, request.user, one, labels)
        as_seen(one.sight, one)
    return found
