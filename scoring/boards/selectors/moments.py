"""When a board changes by itself, although nothing is written."""

from datetime import datetime
from typing import Any

from django.db.models import Min, Q, QuerySet

from benchmarks_app.models import Run
from scoring.models import Phase


def next_moment(benchmark: int, now: datetime) -> datetime | None:
    """The first moment after `now` at which a run is shown or named, or a phase opens or closes."""
    moments = [
        *_first_after(Run.objects.filter(benchmark=benchmark), now, "public_from"),
        *_first_after(Run.objects.filter(benchmark=benchmark), now, "anonymous_until"),
        *_first_after(Phase.objects.filter(benchmark=benchmark), now, "opens_at"),
        *_first_after(Phase.objects.filter(benchmark=benchmark), now, "closes_at"),
    ]
    return min(moments, default=None)


def _first_after(rows: QuerySet[Any], now: datetime, name: str) -> list[datetime]:
    first = rows.filter(Q(**{f"{name}__gt": now})).aggregate(first=Min(name))["first"]
    return [first] if first else []
