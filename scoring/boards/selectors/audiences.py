"""Who is shown the same board."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Exists, Q, QuerySet, Subquery
from django.utils import timezone

from benchmarks_app.changes import state_of, states
from benchmarks_app.models import Benchmark, Run, Team
from benchmarks_app.permissions import role_in
from benchmarks_app.prepared import prepared
from scoring.models import Submission

EVERYBODY = "everybody"
FAILED = (Submission.State.INVALID, Submission.State.FAILED)


class Audience(NamedTuple):
    """Who shares a board (None: nobody does), and the state of the benchmark at that moment."""

    name: str | None
    state: int


def audience_of(user: Any, benchmark: Benchmark) -> Audience:
    """Those to whom a board says the same as to this person, in one query.

    By role, which says what of hidden splits and private runs is told. Alone is whoever is told
    something that others of the role are not, of what is their own or a team's of theirs: a run
    that is private or anonymous or has a step of the Ladder, a submission that failed. That a run
    is theirs is put on the page afterwards (`rows.with_own`).
    """
    if not user.is_authenticated:
        return Audience(EVERYBODY, state_of(benchmark.pk))
    # Asked anew each time, whoever has joined a team meanwhile.
    rows = _asked(benchmark.pk, user.pk, timezone.now())
    has_run, has_failed, state = rows[0] if rows else (True, True, 0)
    if has_run or has_failed:
        return Audience(None, 0)
    return Audience(f"as {role_in(user, benchmark) or 'guest'}", int(state or 0))


@prepared
def _asked(benchmark: int, user: int, now: datetime) -> QuerySet:
    """Whether somebody is told of a run, or of a failure, what others are not; and the state."""
    teams = Team.members.through.objects.filter(user=user).values("team")
    runs = Run.objects.filter(Q(owner=user) | Q(team__in=teams), benchmark=benchmark)
    is_told_alone = (
        ~Q(visibility=Run.Visibility.BENCHMARK)
        | Q(anonymous_until__gt=now)
        | Q(score_sets__ladder_steps__isnull=False)
    )
    sent = Submission.objects.filter(
        Q(submitter=user) | Q(team__in=teams), phase__benchmark=benchmark
    )
    failed = sent.filter(state__in=FAILED, withdrawn_at=None)
    return Benchmark.objects.filter(pk=benchmark).values_list(
        Exists(runs.filter(is_told_alone)), Exists(failed), Subquery(states(benchmark))
    )


def own_runs(user: Any, benchmark: Benchmark) -> list[int]:
    """The keys of the runs that a board points out to this person: what they have submitted."""
    if not user.is_authenticated:
        return []
    return _own_runs(benchmark.pk, user.pk)


@prepared
def _own_runs(benchmark: int, user: int) -> QuerySet:
    own = Run.objects.filter(owner=user, benchmark=benchmark, kind=Run.Kind.SUBMITTED)
    return own.order_by().values_list("pk", flat=True)
