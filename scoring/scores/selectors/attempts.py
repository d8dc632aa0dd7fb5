"""How often each team has tried on a release, and what of it came to nothing."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from benchmarks_app.common.selectors.naming import team_ids_of
from benchmarks_app.models import Release, Run
from benchmarks_app.permissions import Action, may
from scoring.models import ScoreSet, Submission
from scoring.scores.selectors.releases import SCORER_VERSION

# Of those that came to nothing, so many are told one by one.
MOST_LISTED = 50


def group_of(run: Run) -> str:
    """Whose a submitted run is: its team's, or its owner's alone."""
    if run.kind != Run.Kind.SUBMITTED:
        return ""
    return f"team {run.team_id}" if run.team_id else f"person {run.owner_id}"


def known_group_of(run: Run) -> str:
    """As `group_of`; empty while it is a secret to somebody."""
    return "" if run.anonymous_until and run.anonymous_until > timezone.now() else group_of(run)


def attempts_on(release: Release, viewer: Any) -> dict[int, int]:
    """{submitted run: how many its team and its owner have scores of, as far as one may know}.

    Withdrawn and private ones too: taking a run back, or not showing it, does not undo that the
    others were picked from it. A run that is anonymous to the viewer counts for nobody: it would
    tell by the others whose it is.
    """
    sets = ScoreSet.objects.filter(
        release=release, scorer_version=SCORER_VERSION, run__kind=Run.Kind.SUBMITTED
    )
    if not may(viewer, Action.EDIT, release.benchmark):
        is_known = Q(run__anonymous_until=None) | Q(run__anonymous_until__lte=timezone.now())
        if viewer.is_authenticated:
            is_known |= Q(run__owner=viewer) | Q(run__team__in=team_ids_of(viewer))
        sets = sets.filter(is_known)
    rows = sets.values_list("run", "run__owner", "run__team")
    owners, teams = Counter[int](), Counter[int]()
    both = Counter[tuple[int, int | None]]()
    for _, owner, team in rows:
        owners[owner] += 1
        both[owner, team] += 1
        if team:
            teams[team] += 1
    return {
        run: owners[owner] + (teams[team] - both[owner, team] if team else 0)
        for run, owner, team in rows
    }


@dataclass(frozen=True)
class Unranked:
    """Submissions to a release that have no scores: how many, and those this person may know."""

    n: int
    listed: list[Submission]

    @property
    def n_others(self) -> int:
        return self.n - len(self.listed)


def unranked_on(release: Release, user: Any) -> Unranked:
    """Submissions that were refused or failed: one's own with their causes, all for keepers."""
    failed = Submission.objects.filter(
        phase__release=release,
        state__in=[Submission.State.INVALID, Submission.State.FAILED],
        withdrawn_at=None,
    )
    n = failed.count()
    return Unranked(n, list(_known(failed, release, user)) if n else [])


def _known(failed: QuerySet[Submission], release: Release, user: Any) -> QuerySet[Submission]:
    if not user.is_authenticated:
        return failed.none()
    if not may(user, Action.EDIT, release.benchmark):
        failed = failed.filter(submitter=user)
    related = failed.select_related("phase__benchmark", "job", "submitter")
    return related.order_by("-created_at", "-pk")[:MOST_LISTED]
