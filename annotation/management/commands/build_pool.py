from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.pools.services.planning import Sharing
from annotation.pools.services.pooling import pool_arguments
from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    finished,
)
from benchmarks_app.management.parameters import add_parameters
from benchmarks_app.models import Benchmark, CandidateList, Run
from benchwright.errors import BenchmarkError
from benchwright.pools import Recipe
from benchwright.recipes import pools as recipes


class Command(BaseCommand):
    help = "Build a pool from the top documents of several runs, and open it for judging."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("--runs", default="", help="names, with commas between; 'all'")
        add_parameters(parser, *recipes.POOLING, *recipes.SHARING, recipes.SECONDS, recipes.SEED)
        parser.add_argument("--control-run", default="", help="the run they are drawn from")
        parser.add_argument("--carry", action="store_true", help="reuse what was judged before")
        parser.add_argument("--candidates", help="name of the list that a top-up is made of")
        parser.add_argument("--name", default="", help="by default 'depth 10', after the depth")

    def handle(self, *args: Any, slug: str, user: str | None, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        try:
            arguments = pool_arguments(
                benchmark=benchmark,
                name=options["name"] or _usual_name(options),
                runs=_runs_of(benchmark, options["runs"]) if options["runs"] else [],
                recipe=_recipe(options),
                sharing=_sharing(options),
                candidates=_list_named(benchmark, options["candidates"]),
                seed=options["seed"],
                seconds=options["seconds"],
            )
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        actor = actor_of(benchmark, user)
        job = jobs.run_here(benchmark=benchmark, user=actor, **arguments)
        finished(self, job)
        seed = job.parameters["seed"]
        self.stdout.write(f"{job.result['n_entries']} documents to judge, seed {seed}")
        self.stdout.write(f"digest {job.result['digest']}")


def _usual_name(options: dict[str, Any]) -> str:
    is_plain = options["strategy"] == "depth-k"
    return f"depth {options['depth']}" if is_plain else options["strategy"]


def _recipe(options: dict[str, Any]) -> Recipe:
    usual = "listed" if options["strategy"] == "top-up" else "layered"
    chosen = {one.name: options[one.name] for one in recipes.POOLING}
    return Recipe(
        **{**chosen, "order": chosen["order"] or usual},
        control_run=options["control_run"],
        carry=options["carry"],
    )


def _sharing(options: dict[str, Any]) -> Sharing:
    return Sharing(**{one.name: options[one.name] for one in recipes.SHARING})


def _list_named(benchmark: Benchmark, name: str | None) -> CandidateList | None:
    if name is None:
        return None
    found = benchmark.candidate_lists.filter(name=name).first()
    if found is None:
        known = ", ".join(benchmark.candidate_lists.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"No list '{name}' in {benchmark.slug}. There are: {known}.")
    return found


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
