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
from benchwright.errors import BenchmarkError
from benchwright.logs.sampling import Allocation, Design, Plan, Weighting, Wordings, parse_given
from benchwright.logs.strata import By


class Command(BaseCommand):
    help = "Draw families of a query log; they become queries with probability and weight."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("log", help="name of the log in the benchmark")
        parser.add_argument("-n", "--families", type=int, default=200, help="families to draw")
        parser.add_argument("--by", choices=[str(by) for by in By], default="frequency")
        parser.add_argument("--allocation", choices=[str(a) for a in Allocation], default="equal")
        parser.add_argument("--given", default="", help="such as head=50,torso=100,tail=50")
        parser.add_argument("--head", type=float, default=0.05, help="share of queries, head")
        parser.add_argument("--tail", type=float, default=0.5, help="share of queries, tail")
        parser.add_argument("--weighting", choices=[str(w) for w in Weighting], default="traffic")
        parser.add_argument("--wordings", choices=[str(w) for w in Wordings], default="all")
        parser.add_argument("--seed", type=int, help="the same seed draws the same families")
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
    return Design(
        n_families=options["families"],
        by=By(options["by"]),
        allocation=Allocation(options["allocation"]),
        given=parse_given(options["given"]),
        weighting=Weighting(options["weighting"]),
        wordings=Wordings(options["wordings"]),
        head_share=options["head"],
        tail_share=options["tail"],
    )
