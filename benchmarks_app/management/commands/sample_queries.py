from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.jobs.services import jobs
from benchmarks_app.logs.services import sampling
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    finished,
    progress_printer,
)
from benchmarks_app.management.parameters import add_parameter, add_parameters
from benchwright.errors import BenchmarkError
from benchwright.logs.sampling import Design, Plan, parse_given
from benchwright.recipes import sampling as recipe


class Command(BaseCommand):
    help = "Draw families of a query log; they become queries with probability and weight."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("log", help="name of the log in the benchmark")
        add_parameter(parser, recipe.N_FAMILIES, "-n")
        add_parameters(parser, *recipe.SAMPLING[1:])
        parser.add_argument("--given", default="", help="such as head=50,torso=100,tail=50")
        parser.add_argument("--preview", action="store_true", help="show it, and draw nothing")

    def handle(self, *args: Any, slug: str, user: str | None, log: str, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        found = benchmark.query_logs.filter(name=log).first()
        if found is None:
            known = ", ".join(benchmark.query_logs.values_list("name", flat=True)[:10])
            raise CommandError(f"No log '{log}' in {slug}. There are: {known or 'none yet'}.")
        try:
            design = _design(options)
            self._show(sampling.plan_of(found, design))
            if options["preview"]:
                return
            arguments = sampling.sample_arguments(log=found, design=design, seed=options["seed"])
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        job = jobs.run_here(
            benchmark=benchmark, user=actor, on_progress=progress_printer(self), **arguments
        )
        finished(self, job)

    def _show(self, plan: Plan) -> None:
        for stratum in plan.strata:
            self.stdout.write(
                f"{stratum.name}: {stratum.n_drawn:,} of {stratum.n_families:,} families, "
                f"probability {stratum.inclusion_probability:.4f}"
            )


def _design(options: dict[str, Any]) -> Design:
    chosen = {one.name: options[one.name] for one in recipe.DESIGN}
    return Design(given=parse_given(options["given"]), **chosen)
