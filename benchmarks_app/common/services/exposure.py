"""Grades that were public once can never be hidden: who says so, and who writes it down."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, Query, QueryFamily
from benchwright.files.external_sort import batched
from benchwright.releases.errors import ExposedQueriesError

READ_ACTION = "read-hidden-grades"
NAMED_AT_MOST = 5
PER_STATEMENT = 500


def exposed_among(*, benchmark: Benchmark, hidden: Iterable[int]) -> list[str]:
    """The ids of those of the queries, by primary key, whose grades were public once."""
    exposed = Query.objects.filter(benchmark=benchmark, exposed_at__isnull=False)
    qids: list[str] = []
    for keys in batched(hidden, PER_STATEMENT):
        qids += exposed.filter(pk__in=keys).values_list("qid", flat=True)
    return sorted(qids, key=str.encode)


def refuse_hiding(*, benchmark: Benchmark, hidden: Iterable[int]) -> None:
    """Refuse to put queries, by primary key, where grades are hidden, if any were public once.

    Raises
    ------
    ExposedQueriesError
        If a query's grades were in a public split of a release.
    """
    exposed = exposed_among(benchmark=benchmark, hidden=hidden)
    if exposed:
        more = f" and {len(exposed) - NAMED_AT_MOST} more" if len(exposed) > NAMED_AT_MOST else ""
        raise ExposedQueriesError(
            qids=exposed, named=", ".join(exposed[:NAMED_AT_MOST]) + more, n=len(exposed)
        )


def mark_exposed(*, benchmark: Benchmark, queries: Iterable[int], at: datetime) -> int:
    """Note that the grades of these queries are public from `at`; returns for how many it is new.

    Inside the caller's transaction. A query that was exposed before keeps its earlier time.
    """
    fresh = Query.objects.filter(benchmark=benchmark, exposed_at=None)
    return sum(
        fresh.filter(pk__in=keys).update(exposed_at=at) for keys in batched(queries, PER_STATEMENT)
    )


def is_withheld(benchmark: Benchmark, query: Query) -> bool:
    """Whether labels of a query are for keepers alone; `query` comes with its family.

    Those of test may have to be hidden one day, so reading them is written down from the start.
    """
    split = query.family.split or QueryFamily.Split.TEST
    return split == QueryFamily.Split.TEST or split in benchmark.hidden_splits


def record_read(*, actor: Any, benchmark: Benchmark, what: str, **detail: Any) -> None:
    """Write down that somebody saw grades of a split that is hidden, where the benchmark has one.

    `what` says which page, file or endpoint it was.
    """
    if benchmark.hidden_splits or benchmark.releases.exclude(hidden_splits=[]).exists():
        audit.record(actor=actor, action=READ_ACTION, benchmark=benchmark, target=what, **detail)
