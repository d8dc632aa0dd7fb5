"""Judges as pages, endpoints and jobs read them, and what asks them."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import QuerySet

from benchmarks_app.models import Benchmark, JudgeEndpoint


def judges_of(benchmark: Benchmark) -> QuerySet[JudgeEndpoint]:
    """By name, with the job that tries each."""
    rows = JudgeEndpoint.objects.filter(benchmark=benchmark)
    return rows.select_related("benchmark", "trial_job").order_by("name")


@dataclass(frozen=True)
class Use:
    """How often one kind of work has asked a judge; `what` and `whats` name one and several."""

    n: int
    what: str
    whats: str
    is_under_way: bool

    def __str__(self) -> str:
        return f"{self.n:,} {self.what if self.n == 1 else self.whats}"


# Each app that asks judges says here how it uses one.
USES: list[Callable[[JudgeEndpoint], Use]] = []


def uses_of(judge: JudgeEndpoint) -> list[Use]:
    return [use(judge) for use in USES]
