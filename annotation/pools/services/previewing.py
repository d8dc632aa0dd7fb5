"""What a pool would be like, before it is built."""

from typing import Any

from django.urls import reverse

from annotation.pools.services.planning import plan_of, planned_pool
from annotation.pools.services.pooling import known, statistics_of
from annotation.pools.services.ways import ways_of
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, Run, User
from benchwright.pools.preview import Depths

JOB_KIND = "preview-pool"
# Rows of runs that are read in about half a second.
ROWS_AT_ONCE = 300_000


def preview_of(
    benchmark: Benchmark, parameters: dict[str, Any], tell: Any = lambda *progress: None
) -> dict[str, Any]:
    """The statistics that the pool of these parameters would have; nothing is written.

    Besides a pool's own: `reach`, `labels_each` (of a document) and, of a depth pool, `depths`:
    what it would be from depth 1 on; of an estimate `ways`, beside whole queries.
    """
    plan = plan_of(parameters)
    planned = planned_pool(benchmark, plan, tell, has_depths=True)
    sharing, watcher = plan.sharing, planned.depth_watcher
    return {
        **statistics_of(planned, seconds=parameters["seconds"]),
        "reach": plan.recipe.reach,
        "labels_each": sharing.overlap + sharing.double_share,
        "depths": _as_json(watcher.depths(), plan.recipe.depth) if watcher else None,
        "ways": ways_of(benchmark, planned, parameters["seconds"]) if planned.population else None,
    }


def _as_json(depths: Depths, depth: int) -> dict[str, Any]:
    least = depths.least_alike(depth)
    return {
        "documents": list(depths.n_documents),
        "judged": [known(share) for share in depths.judged_new],
        "least_run": least,
        "least": [known(share) for share in depths.judged[least]] if least else [],
    }


def takes_long(benchmark: Benchmark, parameters: dict[str, Any]) -> bool:
    """Whether a reader should not wait for a preview."""
    depth = max(plan_of(parameters).recipe.watched_depth, 1)
    runs = Run.objects.filter(benchmark=benchmark, pk__in=parameters["runs"])
    sizes = runs.values_list("n_rows", "n_queries")
    return sum(min(n_rows, n_queries * depth) for n_rows, n_queries in sizes) > ROWS_AT_ONCE


def start_preview(
    *, benchmark: Benchmark, user: User, parameters: dict[str, Any], form: str
) -> Job:
    """Start the job that makes a preview; `form` is what was filled in, as it was sent."""
    return jobs.start(
        kind=JOB_KIND,
        title=f"Preview pool {parameters['name']}",
        benchmark=benchmark,
        user=user,
        parameters={**parameters, "form": form},
    )


def preview_pool(job: jobs.RunningJob) -> None:
    """The handler."""
    preview = preview_of(job.benchmark, job.parameters, job.progress)
    with job.commit() as result:
        page = reverse("annotation:pool-new", args=[job.benchmark.slug])
        result.update(preview=preview, url=f"{page}?preview={job.row.pk}")
