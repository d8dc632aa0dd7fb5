"""Live systems, the runs made from them, and the queries they can be asked."""

from operator import itemgetter

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Max, QuerySet

from benchmarks_app.models import Benchmark, Job, Query, QueryFamily, Run, User
from benchmarks_app.models.jobs import JobQuerySet
from scoring.models import LiveRun, LiveSystem
from scoring.scores.selectors.releases import release_of_version, release_query_texts

JOB_KIND = "ask-system"
SPLITS = tuple(name for name in QueryFamily.Split.values if name)


def live_systems_of(benchmark: Benchmark) -> QuerySet[LiveSystem]:
    """By name, with `n_runs` made from each and when the last was made."""
    return (
        LiveSystem.objects.filter(benchmark=benchmark)
        .select_related("benchmark", "created_by")
        .annotate(n_runs=Count("live_runs"), last_run_at=Max("live_runs__created_at"))
        .order_by("name", "pk")
    )


def jobs_of(system: LiveSystem) -> JobQuerySet:
    """The jobs that ask or asked a system, newest first."""
    return Job.objects.filter(
        benchmark=system.benchmark_id, kind=JOB_KIND, parameters__system=system.pk
    ).order_by("-pk")


def job_at_work(system: LiveSystem) -> Job | None:
    """The job that asks it now, or is about to."""
    return jobs_of(system).active().first()


def live_runs_of(system: LiveSystem, user: User | AnonymousUser) -> list[LiveRun]:
    """What was made of its answers, newest first, as far as this person sees the runs."""
    return list(
        LiveRun.objects.filter(system=system, run__in=Run.objects.visible_to(user))
        .select_related("run", "run__latencies")
        .order_by("-created_at", "-pk")[:50]
    )


def queries_to_ask(
    benchmark: Benchmark, *, split: str = "", release: str = ""
) -> list[tuple[str, str]]:
    """(qid, text) by the bytes of the ids: of a published release, of a split, or all.

    Without those that have images and no text: what is asked is words.
    """
    if release:
        published = release_of_version(benchmark, release)
        pairs = list(release_query_texts(published).items()) if published else []
    else:
        rows = Query.objects.committed().filter(benchmark=benchmark)
        if split:
            rows = rows.filter(family__split=split)
        pairs = list(rows.values_list("qid", "text"))
    return sorted(filter(itemgetter(1), pairs), key=lambda pair: pair[0].encode())
