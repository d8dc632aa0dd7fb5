from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.common.selectors.pools import DEFAULT_SECONDS
from annotation.pools.services.planning import Sharing
from annotation.pools.services.pooling import pool_arguments
from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    finished,
)
from benchmarks_app.models import Benchmark, CandidateList, Run
from benchwright.errors import BenchmarkError
from benchwright.pools import Recipe
from benchwright.pools.recipe import ORDERS, STRATEGIES


class Command(BaseCommand):
    help = "Build a pool from the top documents of several runs, and open it for judging."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("--runs", default="", help="names, with commas between; 'all'")
        parser.add_argument("--depth", type=int, default=10, help="documents of each run and query")
        parser.add_argument("--strategy", choices=STRATEGIES, default="depth-k", help="which")
        parser.add_argument("--budget", type=int, help="documents a query, of a layered pool")
        parser.add_argument("--order", choices=ORDERS, help="of a query's documents")
        parser.add_argument("--control", type=float, default=0.0, help="share drawn at random")
        parser.add_argument("--control-run", default="", help="the run they are drawn from")
        parser.add_argument("--carry", action="store_true", help="reuse what was judged before")
        parser.add_argument("--candidates", help="name of the list that a top-up is made of")
        parser.add_argument("--seed", type=int, help="orders the queue; drawn if not given")
        parser.add_argument("--overlap", type=int, default=1, help="people who grade a document")
        parser.add_argument("--double-share", type=float, default=0.0, help="graded by one more")
        parser.add_argument("--repeat-share", type=float, default=0.0, help="shown again")
        parser.add_argument("--gold-share", type=float, default=0.0, help="hidden checks")
        parser.add_argument("--seconds", type=float, default=DEFAULT_SECONDS, help="of a label")
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
    return Recipe(
        strategy=options["strategy"],
        order=options["order"] or usual,
        depth=options["depth"],
        budget=options["budget"],
        control_share=options["control"],
        control_run=options["control_run"],
        carry=options["carry"],
    )


def _sharing(options: dict[str, Any]) -> Sharing:
    shares = ("overlap", "double_share", "repeat_share", "gold_share")
    return Sharing(**{name: options[name] for name in shares})


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
