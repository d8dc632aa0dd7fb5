"""What scoring adds to the shared pages: the last step, results counted, what queries show."""

from collections.abc import Collection, Mapping
from typing import Any

from django.urls import reverse

from benchmarks_app.models import Benchmark
from benchmarks_app.navigation import badge
from benchmarks_app.overview import Step, step
from benchmarks_app.permissions import Action
from benchmarks_app.reach import Reach, measures_reach
from benchmarks_app.results_seen import counts_results
from scoring.models import ScoreSet
from scoring.scores.selectors.releases import SCORER_VERSION, newest_release
from scoring.submissions.selectors.submissions import n_open_flags

badge("scoring:probing-list")(n_open_flags)


@measures_reach
def reach_by_runs(benchmark: Benchmark, sets: Mapping[str, Collection[str]]) -> dict[str, Reach]:
    # Numpy and scipy are not needed before somebody asks.
    from scoring.planning.services.reliability import reaches

    return reaches(benchmark, sets)


@counts_results
def runs_scored(benchmark: Benchmark) -> int:
    """A run scored on two releases gave two results to look at."""
    scored = ScoreSet.objects.filter(release__benchmark=benchmark)
    return scored.filter(scorer_version=SCORER_VERSION).count()


@step
def leaderboard_step(benchmark: Benchmark, user: Any) -> Step:
    release = newest_release(benchmark)
    n = _n_scored(release) if release else 0
    return Step(
        order=80,
        title="Leaderboard",
        is_done=bool(n),
        detail=_detail(release, n),
        url=reverse("scoring:leaderboard", args=[benchmark.slug]),
        call="See the leaderboard" if n else "Submit a run",
        action=Action.SEE_RESULTS,
    )


def _n_scored(release: Any) -> int:
    return ScoreSet.objects.filter(release=release, scorer_version=SCORER_VERSION).count()


def _detail(release: Any, n: int) -> str:
    if release is None:
        return "scores need a release"
    return f"{n} {'run' if n == 1 else 'runs'} on {release.version}"
