"""Who is shown the same board."""

from typing import Any

from django.db.models import Q

from benchmarks_app.common.selectors.naming import team_ids_of
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.permissions import role_in
from scoring.models import Submission

EVERYBODY = "everybody"


def audience_of(user: Any, benchmark: Benchmark) -> str | None:
    """A name of those to whom a board says the same as to this person; None for who is alone.

    By role, which says what of hidden splits and private runs is told. Who has a run or a
    submission here, or a team that has, sees what is theirs, and shares a board with nobody.
    """
    if not user.is_authenticated:
        return EVERYBODY
    teams = team_ids_of(user)
    of_theirs = Q(owner=user) | Q(team__in=teams)
    if Run.objects.filter(of_theirs, benchmark=benchmark).exists():
        return None
    sent = Q(submitter=user) | Q(team__in=teams)
    if Submission.objects.filter(sent, phase__benchmark=benchmark).exists():
        return None
    return f"as {role_in(user, benchmark) or 'guest'}"
