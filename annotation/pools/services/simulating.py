"""Which order finds relevant documents soonest: tried on grades that are known."""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from benchmarks_app.common.selectors.reading import qrels_of, run_path
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, QrelSet, Run
from benchwright.pools.adaptive import BURN_IN
from benchwright.pools.simulation import simulate
from benchwright.runs.store import top_k

JOB_KIND = "simulate-orders"


def simulation_arguments(
    *,
    benchmark: Benchmark,
    runs: Sequence[Run],
    qrel_set: QrelSet,
    depth: int,
    burn_in: int = BURN_IN,
    seed: int = 0,
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to compare the orders."""
    return {
        "kind": JOB_KIND,
        "title": f"Compare orders on {qrel_set.name}",
        "parameters": {
            "runs": sorted(run.pk for run in runs),
            "qrel_set": qrel_set.pk,
            "depth": depth,
            "burn_in": burn_in,
            "seed": seed,
        },
    }


def simulate_orders(job: jobs.RunningJob) -> None:
    """The handler: its result holds the curves."""
    parameters = job.parameters
    runs = Run.objects.filter(benchmark=job.benchmark, pk__in=parameters["runs"]).order_by("name")
    qrel_set = QrelSet.objects.get(benchmark=job.benchmark, pk=parameters["qrel_set"])
    rankings = {}
    for n, run in enumerate(runs):
        job.progress(n, len(parameters["runs"]) + 1, f"reading {run.name}")
        rankings[run.name] = list(top_k(run_path(run), parameters["depth"]))
    job.progress(len(rankings), len(rankings) + 1, "judging on paper")
    chosen = {key: parameters[key] for key in ("depth", "burn_in", "seed")}
    simulation = simulate(rankings, relevance_of(qrel_set), **chosen)
    with job.commit() as result:
        page = reverse("annotation:pool-simulate", args=[job.benchmark.slug])
        result.update(
            runs=sorted(rankings),
            qrels=qrel_set.name,
            depth=parameters["depth"],
            burn_in=parameters["burn_in"],
            n_queries=simulation.n_queries,
            n_judged=simulation.n_judged,
            n_unjudged=simulation.n_unjudged,
            n_relevant=simulation.n_relevant,
            n_known=simulation.n_known,
            curves={curve.order: list(curve.n_found) for curve in simulation.curves},
            url=f"{page}?job={job.row.pk}",
        )


def relevance_of(qrel_set: QrelSet) -> dict[str, dict[str, bool]]:
    """{qid: {docid: whether its grade is a relevant one}}; a grade below 0 is no judgment."""
    grades = qrel_set.benchmark.grades.filter(is_relevant=True)
    relevant = set(grades.values_list("value", flat=True))
    relevance: dict[str, dict[str, bool]] = {}
    for qid, docid, grade in qrels_of(qrel_set):
        if grade >= 0:
            relevance.setdefault(qid, {})[docid] = grade in relevant
    return relevance
