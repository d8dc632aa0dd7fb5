"""What the shared nouns ask about results: what queries can show, how many were seen already."""

from collections.abc import Collection, Mapping

from benchmarks_app.models import Benchmark
from benchmarks_app.result_facts import Reach, counts_results, measures_reach
from scoring.models import ScoreSet


@measures_reach
def reach_by_runs(benchmark: Benchmark, sets: Mapping[str, Collection[str]]) -> dict[str, Reach]:
    # Numpy and scipy are not needed before somebody asks.
    from scoring.planning.services.reliability import reaches

    return reaches(benchmark, sets)


@counts_results
def runs_scored(benchmark: Benchmark) -> int:
    """A run scored on two releases gave two results to look at."""
    # Numpy is not needed before somebody asks.
    from scoring.scores.selectors.releases import SCORER_VERSION

    scored = ScoreSet.objects.filter(release__benchmark=benchmark)
    return scored.filter(scorer_version=SCORER_VERSION).count()
