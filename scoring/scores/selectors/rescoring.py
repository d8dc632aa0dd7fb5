"""Which runs wait for scores on a release, in which order, and which could not be scored."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Concat, StrIndex, Substr

from benchmarks_app.models import Job, Release, Run
from benchmarks_app.models.jobs import JobQuerySet
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.releases import SCORER_VERSION, relevance_threshold
from scoring.scores.selectors.score_sets import runs_without_scores
from scoring.scores.shown import FIRST_MEASURE

RUNS_KIND = "score-runs"
# In the version of scores over one split alone, which stand on no board.
OF_A_PART = "/"
# What was taken back keeps its place on the Ladder.
KEEP_THEIR_PLACE = Q(run__withdrawn_at=None) | (
    Q(run__kind=Run.Kind.SUBMITTED) & ~Q(release__hidden_splits=[])
)


# --- what waits ----------------------------------------------------------------------------


def scoring_order(release: Release, *, only_again: bool = False) -> QuerySet[Run]:
    """Runs without scores on a release: what people look at first, the best, then the newest.

    Where it hides a split, as they were sent: the order is shown, and submissions are decided about
    in it. Among them are those whose scores over one split are of an earlier version of the scorer.
    With `only_again` those alone that an earlier version of the scorer has scored on it.
    """
    whole = runs_without_scores(release)
    if only_again:
        whole = whole.filter(Exists(_outdated().filter(run=OuterRef("pk"), release=release)))
    parts = outdated_parts().filter(release=release)
    waiting = Run.objects.filter(Q(pk__in=whole.values("pk")) | Q(pk__in=parts.values("run")))
    if release.hidden_splits:
        return waiting.order_by("created_at", "pk")
    return waiting.annotate(
        last_looked_at=Max("score_sets__looked_at"), last_mean=_last_mean(release)
    ).order_by(
        F("last_looked_at").desc(nulls_last=True),
        F("last_mean").desc(nulls_last=True),
        "-created_at",
        "pk",
    )


def _last_mean(release: Release) -> Subquery:
    """A run's mean on the newest board it is on, by the measure that boards show first.

    Boards with a hidden split are passed over: the order is shown, and their means are not.
    """
    measure = FIRST_MEASURE.counting_from(relevance_threshold(release))
    scores = Score.objects.filter(
        score_set__run=OuterRef("pk"),
        score_set__release__hidden_splits=[],
        measure=measure,
        slice_name="",
    ).order_by(
        "-score_set__release__major", "-score_set__release__minor", "-score_set__release__patch"
    )
    return Subquery(scores.values("mean")[:1])


def _outdated() -> QuerySet[ScoreSet]:
    """Score sets of an earlier version of the scorer, over all queries."""
    older = ~Q(scorer_version=SCORER_VERSION) & ~Q(scorer_version__contains=OF_A_PART)
    return ScoreSet.objects.filter(older, KEEP_THEIR_PLACE)


def outdated_parts(only: str = "") -> QuerySet[ScoreSet]:
    """Score sets over one split, such as "/dev", that the scorer of now has not made."""
    part = Substr("scorer_version", StrIndex("scorer_version", Value(OF_A_PART)))
    current = ScoreSet.objects.filter(
        run=OuterRef("run"),
        release=OuterRef("release"),
        scorer_version=Concat(Value(SCORER_VERSION), OuterRef("part")),
    )
    parts = ScoreSet.objects.filter(KEEP_THEIR_PLACE, scorer_version__contains=OF_A_PART)
    outdated = parts.annotate(part=part).filter(~Exists(current))
    return outdated.filter(part=only) if only else outdated


def outdated_releases() -> QuerySet[Release]:
    """Releases with runs of which only an earlier version of the scorer made scores."""
    current = ScoreSet.objects.filter(
        run=OuterRef("run"), release=OuterRef("release"), scorer_version=SCORER_VERSION
    )
    left = _outdated().filter(~Exists(current))
    outdated = Q(pk__in=left.values("release")) | Q(pk__in=outdated_parts().values("release"))
    return Release.objects.published().filter(outdated).newest_first()


# --- jobs ----------------------------------------------------------------------------------


def scoring_jobs(release: Release) -> JobQuerySet:
    """The jobs that score runs on a release, the newest first."""
    return Job.objects.filter(
        benchmark=release.benchmark_id, kind=RUNS_KIND, parameters__release=release.pk
    ).order_by("-pk")


def runs_claimed(release: Release, batch: str = "") -> set[int]:
    """Keys of the runs that unfinished jobs have, and those that a batch has tried already."""
    jobs = Q(state__in=[Job.State.QUEUED, Job.State.RUNNING])
    if batch:
        jobs |= Q(parameters__batch=batch)
    rows = scoring_jobs(release).filter(jobs).values_list("parameters", flat=True)
    return {pk for parameters in rows for pk in parameters.get("runs", ())}


# --- how far it is -------------------------------------------------------------------------


@dataclass(frozen=True)
class Waiting:
    """A run without scores: `cause` says why the last attempt failed, "" where it waits."""

    run: Run
    is_at_work: bool = False
    cause: str = ""
    job: Job | None = None


@dataclass(frozen=True)
class Rescoring:
    """How far scoring on a release is, counted in the runs that one person may see."""

    release: Release
    n_scored: int
    n_total: int
    waiting: list[Waiting]
    failed: list[Waiting]
    jobs: list[Job]

    @property
    def n_left(self) -> int:
        return self.n_total - self.n_scored

    @property
    def is_running(self) -> bool:
        return bool(self.jobs)

    @property
    def is_complete(self) -> bool:
        return not self.n_left


def rescoring_of(release: Release, user: Any) -> Rescoring:
    """As many queries however many runs there are."""
    visible = Run.objects.filter(benchmark=release.benchmark_id, withdrawn_at=None).visible_to(user)
    runs = scoring_order(release).filter(pk__in=visible.values("pk"))
    left = list(runs.select_related("owner", "benchmark"))
    # Runs that wait for nothing and have no scores either are those of which none are to be told.
    current = Q(scorer_version=SCORER_VERSION) | Q(
        scorer_version__startswith=f"{SCORER_VERSION}{OF_A_PART}"
    )
    scored = visible.filter(pk__in=ScoreSet.objects.filter(current, release=release).values("run"))
    n_scored = scored.exclude(pk__in=runs.order_by().values("pk")).count()
    rows = list(scoring_jobs(release)) if left else []
    causes, active = _causes(rows), [job for job in rows if not job.is_finished]
    claimed = {pk for job in active for pk in job.parameters.get("runs", ())}
    waiting, failed = [], []
    for run in left:
        cause, job = causes.get(run.pk, ("", None))
        if cause and run.pk not in claimed:
            failed.append(Waiting(run, cause=cause, job=job))
        else:
            waiting.append(Waiting(run, is_at_work=run.pk in claimed))
    return Rescoring(release, n_scored, n_scored + len(left), waiting, failed, active)


def _causes(jobs: list[Job]) -> dict[int, tuple[str, Job]]:
    """Why each run has no scores, from the newest finished job that tried."""
    causes: dict[int, tuple[str, Job]] = {}
    for job in jobs:
        if job.state in Job.ENDED_EARLY:
            for pk in job.parameters.get("runs", ()):
                causes.setdefault(pk, (job.error, job))
        for failure in job.result.get("failed", ()):
            causes.setdefault(failure["run"], (failure["cause"], job))
    return causes


def unscorable_runs(release: Release) -> set[int]:
    """Keys of the runs that jobs have tried and could not score, and that none tries again."""
    jobs = scoring_jobs(release).filter(state=Job.State.DONE)
    keys = {failure["run"] for job in jobs for failure in job.result.get("failed", ())}
    return keys - runs_claimed(release)


def n_being_scored(release: Release) -> int:
    """How many unfinished jobs score runs on a release."""
    return scoring_jobs(release).active().count()
