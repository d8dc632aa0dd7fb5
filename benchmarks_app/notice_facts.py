"""Who may be told that something happened: each app answers for its own events here."""

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks_app.models import Benchmark, Job, User
from benchmarks_app.models.notices import TEST_EVENT, Event, Notice
from benchmarks_app.permissions import Action, may

# Whether a person may know it, asked when it is told: what they may see may have changed.
Sees = Callable[[User, Benchmark | None, Mapping[str, Any]], bool]
SEES: dict[str, Sees] = {TEST_EVENT: lambda user, benchmark, about: True}


def sees(event: Event) -> Callable[[Sees], Sees]:
    """Register what decides whether somebody may be told of an event."""

    def register(decide: Sees) -> Sees:
        SEES[event] = decide
        return decide

    return register


def may_be_told(user: User, notice: Notice) -> bool:
    """Whether somebody may know what a notice says; of what nobody answers for, nobody may."""
    decide = SEES.get(notice.event)
    return decide is not None and decide(user, notice.benchmark, notice.about)


@sees(Event.RELEASE_PUBLISHED)
def _sees_release(user: User, benchmark: Benchmark | None, about: Mapping[str, Any]) -> bool:
    return benchmark is not None and may(user, Action.SEE_RESULTS, benchmark)


@sees(Event.JOB_FAILED)
def _sees_job(user: User, benchmark: Benchmark | None, about: Mapping[str, Any]) -> bool:
    return Job.objects.visible_to(user).filter(pk=about["job"]).exists()
