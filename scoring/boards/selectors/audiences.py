"""Who is shown the same board."""

from typing import Any

from django.db.models import Q
from django.utils import timezone

from benchmarks_app.models import Benchmark, Run
from benchmarks_app.permissions import role_in
from scoring.models import Submission

EVERYBODY = "everybody"
FAILED = (Submission.State.INVALID, Submission.State.FAILED)


def audience_of(user: Any, benchmark: Benchmark) -> str | None:
    """A name of those to whom a board says the same as to this person; None for who is alone.

    By role, which says what of hidden splits and private runs is told. Alone is whoever is told
    something that others of the role are not, of what is their own or a team's of theirs: a run
    that is private or anonymous or has a step of the Ladder, a submission that failed. That a run
    is theirs is put on the page afterwards (`rows.with_own`).
    """
    if not user.is_authenticated:
        return EVERYBODY
    # Asked anew each time, whoever has joined a team meanwhile.
    teams = user.teams.values("pk")
    runs = Run.objects.filter(Q(owner=user) | Q(team__in=teams), benchmark=benchmark)
    is_told_alone = (
        ~Q(visibility=Run.Visibility.BENCHMARK)
        | Q(anonymous_until__gt=timezone.now())
        | Q(score_sets__ladder_steps__isnull=False)
    )
    sent = Submission.objects.filter(
        Q(submitter=user) | Q(team__in=teams), phase__benchmark=benchmark
    )
    if (
        runs.filter(is_told_alone).exists()
        or sent.filter(state__in=FAILED, withdrawn_at=None).exists()
    ):
        return None
    return f"as {role_in(user, benchmark) or 'guest'}"


def own_runs(user: Any, benchmark: Benchmark) -> list[int]:
    """The keys of the runs that a board points out to this person: what they have submitted."""
    if not user.is_authenticated:
        return []
    own = Run.objects.filter(owner=user, benchmark=benchmark, kind=Run.Kind.SUBMITTED)
    return list(own.values_list("pk", flat=True))
