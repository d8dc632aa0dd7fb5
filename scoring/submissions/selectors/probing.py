"""Submissions that look made to read hidden grades."""

from django.db.models import Case, QuerySet, When

from benchmarks_app.models import Benchmark
from scoring.models import ProbingFlag


def probing_flags(benchmark: Benchmark, *, is_settled: bool | None = None) -> QuerySet[ProbingFlag]:
    """The flags of a benchmark, those that wait first, then the newest; or one kind of them."""
    found = ProbingFlag.objects.filter(submission__phase__benchmark=benchmark)
    if is_settled is not None:
        found = found.filter(settled_at__isnull=not is_settled)
    related = (
        "submission__submitter",
        "submission__team",
        "submission__run",
        "submission__phase__release",
        "submission__phase__benchmark",
        "earlier__run",
        "settled_by",
    )
    waits = Case(When(settled_at=None, then=0), default=1)
    return found.select_related(*related).order_by(waits, "-pk")


def n_open_flags(benchmark: Benchmark) -> int:
    return probing_flags(benchmark, is_settled=False).count()
