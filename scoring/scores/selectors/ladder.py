"""The Ladder of a release: whether it is in force, and whose values are told of each submission."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import NamedTuple

from django.db.models import Min, Q, QuerySet
from django.utils import timezone

from benchmarks_app.models import Release, Run
from benchmarks_app.releases.selectors import hidden_queries
from scoring.models import LadderStep, Phase, ScoreSet, Submission
from scoring.scores.selectors.releases import SCORER_VERSION, scorer_version_of
from scoring.scores.selectors.rescoring import outdated_parts, scoring_jobs, unscorable_runs
from scoring.scores.selectors.score_sets import runs_without_scores

Sources = Mapping[int, Mapping[str, int]]
"""{score set of a submission: {measure: score set whose value is told}}; {} where undecided."""


@dataclass(frozen=True)
class Ladder:
    """Exact values of a release are told at `until`; without it when its phase is closed."""

    until: datetime | None


def ladder_on(release: Release) -> Ladder | None:
    """The Ladder that is in force on a release; None where exact values are told to all.

    It is in force as long as a phase takes, or will take, submissions to hidden queries that the
    release has too, on whichever release of the benchmark: exact values of one would tell of the
    other. A release with hidden queries and without a phase of them has it as well.
    """
    hidden = hidden_queries(release)
    if not hidden:
        return None
    phases = [
        phase
        for phase in Phase.objects.filter(benchmark=release.benchmark_id).select_related("release")
        if phase.split in phase.release.hidden_splits
    ]
    now = timezone.now()
    running = [
        phase
        for phase in phases
        if phase.has_ladder
        and (phase.closes_at is None or phase.closes_at > now)
        and not hidden.isdisjoint(hidden_queries(phase.release))
    ]
    if running:
        ends = [phase.closes_at for phase in running if phase.closes_at]
        return Ladder(max(ends) if len(ends) == len(running) else None)
    return None if any(phase.release_id == release.pk for phase in phases) else Ladder(None)


def sources_on(release: Release, score_sets: Collection[int] | None = None) -> Sources:
    """Of every submission with scores over hidden queries of a release, or of some; one query."""
    climbing = _climbing(release)
    if score_sets is not None:
        climbing = climbing.filter(pk__in=score_sets)
    rows = climbing.values_list("pk", "ladder_steps__measure", "ladder_steps__source")
    sources: dict[int, dict[str, int]] = {}
    for key, measure, source in rows:
        steps = sources.setdefault(key, {})
        if measure is not None:
            steps[measure] = source
    return sources


def undecided_on(release: Release) -> list[ScoreSet]:
    """Score sets of submissions of which it is not decided whose values are told."""
    lacking = _climbing(release).filter(ladder_steps=None)
    return list(lacking.select_related("run", "release__benchmark").order_by("pk"))


def _climbing(release: Release) -> QuerySet[ScoreSet]:
    """Score sets of submitted runs whose queries are hidden, or some of them."""
    apart = [scorer_version_of(split) for split in release.hidden_splits]
    return ScoreSet.objects.filter(
        release=release,
        scorer_version__in=[SCORER_VERSION, *apart],
        run__kind=Run.Kind.SUBMITTED,
    )


class Attempt(NamedTuple):
    """A submitted run; `score_set` is None while it waits for its scores.

    `groups` are its owner and its team: neither gets a Ladder of its own from the other. Runs that
    are anonymous for a while are apart: equal values would tell whose they are.
    """

    run: int
    owner: int
    team: int | None
    is_anonymous: bool
    score_set: int | None

    @property
    def groups(self) -> set[tuple[str, int, bool]]:
        groups = {("person", self.owner, self.is_anonymous)}
        return groups | {("team", self.team, self.is_anonymous)} if self.team else groups


def attempts_in_order(release: Release, scorer_version: str) -> list[Attempt]:
    """Submissions on a release, and those that wait for scores there: as decided first, then sent.

    Withdrawn and private ones too: taking a submission back does not undo what was told of it. Of
    one that could not be scored nothing was told.
    """
    benchmark = release.benchmark_id
    here = ScoreSet.objects.filter(release=release, scorer_version=scorer_version)
    steps = LadderStep.objects.filter(score_set__release__benchmark=benchmark)
    sent = Submission.objects.filter(
        phase__benchmark=benchmark, phase__split__in=release.hidden_splits
    )
    waiting = _waiting(release, scorer_version).exclude(pk__in=unscorable_runs(release))
    runs = Run.objects.filter(
        Q(pk__in=here.values("run")) | Q(pk__in=waiting.values("pk")),
        benchmark=benchmark,
        kind=Run.Kind.SUBMITTED,
    ).only("owner", "team", "anonymous_until", "created_at")
    # Grouped apart: without its statistics PostgreSQL would look for each run's in all of them.
    key_of = dict(here.values_list("run", "pk"))
    first_step = dict(steps.values_list("score_set__run").annotate(Min("pk")))
    sent_at = dict(sent.values_list("run").annotate(Min("created_at")))
    ordered = sorted(
        runs,
        key=lambda run: (
            first_step.get(run.pk, inf),
            sent_at.get(run.pk, run.created_at),
            run.pk,
        ),
    )
    return [
        Attempt(
            run.pk,
            run.owner_id,
            run.team_id,
            run.anonymous_until is not None,
            key_of.get(run.pk),
        )
        for run in ordered
    ]


def _waiting(release: Release, scorer_version: str) -> QuerySet[Run]:
    if scorer_version == SCORER_VERSION:
        return runs_without_scores(release)
    part = scorer_version.removeprefix(SCORER_VERSION)
    return Run.objects.filter(pk__in=outdated_parts(part).filter(release=release).values("run"))


def runs_in_the_way(release: Release) -> list[Run]:
    """Runs that wait for scores, and that submissions wait for; but those that a job has tried."""
    undecided = {score_set.pk for score_set in undecided_on(release)}
    if not undecided:
        return []
    groups, runs = set[tuple[str, int, bool]](), []
    for attempt in reversed(attempts_in_order(release, SCORER_VERSION)):
        if attempt.score_set in undecided:
            groups |= attempt.groups
        elif attempt.score_set is None and not groups.isdisjoint(attempt.groups):
            groups |= attempt.groups
            runs.append(attempt.run)
    rows = scoring_jobs(release).values_list("parameters", flat=True)
    tried = {pk for parameters in rows for pk in parameters.get("runs", ())}
    return list(Run.objects.filter(pk__in=set(runs) - tried).order_by("created_at", "pk"))
