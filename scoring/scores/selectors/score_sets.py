"""Which runs have scores on which release, and where their files are."""

from typing import Any, NamedTuple

from django.db.models import Q

from benchmarks_app import files
from benchmarks_app.models import Release, Run
from benchmarks_app.models.runs import RunQuerySet
from benchwright.evaluation.stored_hits import ScoreFiles
from scoring.models import ScoreSet, Submission
from scoring.scores.selectors.releases import SCORER_VERSION


class Answered(NamedTuple):
    """How many of the `n_queries` that a release grades a run lacks, and how many others it has."""

    n_queries: int
    n_missing: int
    n_extra: int

    @classmethod
    def by(cls, score_set: ScoreSet) -> "Answered":
        return cls(score_set.n_queries, score_set.n_missing, score_set.n_extra)

    @property
    def n(self) -> int:
        return self.n_queries - self.n_missing

    @property
    def share(self) -> float:
        return self.n / self.n_queries if self.n_queries else 0.0


def n_runs_without_scores(release: Release, user: Any) -> int:
    """How many runs that this person may see were not scored on a release; withdrawn ones aside."""
    return runs_without_scores(release).filter(withdrawn_at=None).visible_to(user).count()


def runs_without_scores(release: Release) -> RunQuerySet:
    """Runs that stand, and lack scores on a release.

    Where it hides a split, what was submitted to phases of other splits alone is not among them:
    nobody learns of the hidden split by a phase with a generous limit. What was submitted to it and
    withdrawn is: it keeps its place on the Ladder.
    """
    scored = ScoreSet.objects.filter(release=release, scorer_version=SCORER_VERSION)
    wanted = Q(withdrawn_at=None)
    if release.hidden_splits:
        admitted = Submission.objects.filter(
            phase__split__in=release.hidden_splits, run__isnull=False
        )
        submitted = Q(kind=Run.Kind.SUBMITTED)
        wanted = wanted & ~submitted | submitted & Q(pk__in=admitted.values("run"))
    runs = Run.objects.filter(wanted, benchmark=release.benchmark_id)
    return runs.exclude(pk__in=scored.values("run"))


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
    earlier = list(others)
    of_parent = (score_set for score_set in earlier if score_set.release_id == release.parent_id)
    return next(of_parent, earlier[0] if earlier else None)
