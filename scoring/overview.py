"""The last step of the overview's stepper."""

from typing import Any

from django.urls import reverse

from benchmarks_app.models import Benchmark
from benchmarks_app.overview import Step, step
from scoring.models import ScoreSet
from scoring.selectors import SCORER_VERSION, newest_release


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
    )


def _n_scored(release: Any) -> int:
    return ScoreSet.objects.filter(release=release, scorer_version=SCORER_VERSION).count()


def _detail(release: Any, n: int) -> str:
    if release is None:
        return "scores need a release"
    return f"{n} {'run' if n == 1 else 'runs'} on {release.version}"
