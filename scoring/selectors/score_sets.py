"""Which runs have scores on which release, and where their files are."""

from django.db.models import QuerySet

from benchmarks_app import files
from benchmarks_app.models import Release, Run
from scoring.core.stored_hits import ScoreFiles
from scoring.models import ScoreSet
from scoring.selectors.releases import SCORER_VERSION


def n_answered(score_set: ScoreSet) -> int:
    return score_set.n_queries - score_set.n_missing


def n_runs_without_scores(release: Release) -> int:
    """How many runs of the benchmark were not scored on this release."""
    return runs_without_scores(release).count()


def runs_without_scores(release: Release) -> QuerySet[Run]:
    scored = ScoreSet.objects.filter(release=release, scorer_version=SCORER_VERSION)
    return Run.objects.filter(benchmark=release.benchmark_id).exclude(pk__in=scored.values("run"))


def score_files(score_set: ScoreSet) -> ScoreFiles:
    return ScoreFiles(files.local_path(score_set.per_query), files.local_path(score_set.hits))


def earlier_score_set(*, run: Run, release: Release) -> ScoreSet | None:
    """The run's scores on another release: on its parent if there, else on the newest."""
    others = (
        ScoreSet.objects.filter(run=run, scorer_version=SCORER_VERSION)
        .exclude(release=release)
        .select_related("release")
        .order_by("-release__major", "-release__minor", "-release__patch")
    )
    found = list(others)
    of_parent = (one for one in found if one.release_id == release.parent_id)
    return next(of_parent, found[0] if found else None)
