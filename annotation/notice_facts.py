"""Who may be told of pools: who may see their pages, when it is told."""

from collections.abc import Mapping
from typing import Any

from benchmarks_app.models import Benchmark, User
from benchmarks_app.models.notices import Event
from benchmarks_app.notice_facts import sees
from benchmarks_app.permissions import Action, may


@sees(Event.POOL_FINISHED)
def sees_pool(user: User, benchmark: Benchmark | None, about: Mapping[str, Any]) -> bool:
    return benchmark is not None and may(user, Action.SEE_POOLS, benchmark)
