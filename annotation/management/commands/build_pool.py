from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.selectors import DEFAULT_SECONDS
from annotation.services.pooling import pool_arguments
from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    finished,
)
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.services import jobs


class Command(BaseCommand):
    help = "Build a pool from the top documents of several runs, and open it for judging."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("--runs", required=True, help="names, with commas between; 'all'")
        parser.add_argument("--depth", type=int, default=10, help="documents of each run and query")
        parser.add_argument("--seed", type=int, help="orders the queue; drawn if not given")
        parser.add_argument("--overlap", type=int, default=1, help="people who grade a document")
        parser.add_argument("--seconds", type=float, default=DEFAULT_SECONDS, help="of a label")
        parser.add_argument("--name", default="", help="by default 'depth 10', after the depth")

    def handle(
        self, *args: Any, slug: str, user: str | None, runs: str, name: str, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        chosen = {key: options[key] for key in ("depth", "seed", "overlap", "seconds")}
        try:
            arguments = pool_arguments(
                benchmark=benchmark,
                name=name or f"depth {options['depth']}",
                runs=_runs_of(benchmark, runs),
                **chosen,
            )
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        actor = actor_of(benchmark, user)
        job = jobs.run_here(benchmark=benchmark, user=actor, **arguments)
        finished(self, job)
        seed = job.parameters["seed"]
        self.stdout.write(f"{job.result['n_entries']} documents to judge, seed {seed}")
        self.stdout.write(f"digest {job.result['digest']}")


def _runs_of(benchmark: Benchmark, names: str) -> list[Run]:
    runs = Run.objects.filter(benchmark=benchmark)
    if names == "all":
        return list(runs)
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    found = {run.name: run for run in runs.filter(name__in=wanted)}
    missing = sorted(set(wanted) - found.keys())
    if missing:
        known = ", ".join(runs.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"No run '{missing[0]}' in {benchmark.slug}. There are: {known}.")
    return list(found.values())
