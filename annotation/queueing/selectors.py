"""By what the queue of a pool can be put in order, and by what it was."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Campaign, CampaignPair, Pool
from benchmarks_app.models import Benchmark, Run, User
from benchwright.recipes import pools


@dataclass(frozen=True)
class Ordered:
    """By what a queue was put in order last, and when."""

    by: str
    at: datetime

    @property
    def label(self) -> str:
        return pools.BY.choices[self.by]

    @classmethod
    def of(cls, pool: Pool) -> Self | None:
        """None of a queue that stands as it was built."""
        queue = pool.parameters.get("queue")
        return cls(queue["by"], datetime.fromisoformat(queue["at"])) if queue else None


def campaigns_of(pool: Pool) -> QuerySet[Campaign]:
    """Those with grades, the newest first."""
    graded = CampaignPair.objects.filter(campaign=OuterRef("pk"), state=CampaignPair.State.GRADED)
    return pool.campaigns.filter(Exists(graded)).order_by("-pk")


def runs_of(benchmark: Benchmark, user: User) -> QuerySet[Run]:
    """Those of a benchmark that a person may see, of the pool or not."""
    return Run.objects.visible_to(user).filter(benchmark=benchmark).order_by("name")
