"""`manage.py make_baselines SLUG`: systems of this site as runs of a benchmark."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    progress_printer,
)
from benchmarks_app.management.parameters import add_parameters
from benchmarks_app.models import Benchmark, Job, User
from benchwright.errors import BenchmarkError
from benchwright.recipes import retrieval
from benchwright.retrieval.catalog import CATALOG, LEXICAL
from scoring.management.reporting import refuse_failed
from scoring.systems.selectors import is_made
from scoring.systems.services.baseline_runs import Asked
from scoring.systems.services.baselines import baseline_arguments, wanted_baselines
from scoring.systems.services.shards import help_through


class Command(BaseCommand):
    help = "Make the baselines that a benchmark lacks, as runs: the four lexical ones by default."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--system", action="append", default=[], help=f"{', '.join(CATALOG)}; may be repeated"
        )
        which.add_argument("--all", action="store_true", help="every system that can run here")
        parser.add_argument("--language", default="", help="code or name; that of the corpus")
        add_parameters(parser, *retrieval.RETRIEVAL)

    def handle(self, *args: Any, slug: str, user: str | None, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        try:
            wanted = wanted_baselines(
                benchmark,
                _systems(options),
                options["language"],
                options["depth"],
                options["shards"],
            )
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        made = [self._make(benchmark, actor_of(benchmark, user), asked) for asked in wanted]
        if not any(made):
            self.stdout.write("All baselines are there already.")

    def _make(self, benchmark: Benchmark, user: User, asked: Asked) -> bool:
        if is_made(benchmark, asked.parameters()):
            return False
        job: Job = jobs.run_here(
            benchmark=benchmark,
            user=user,
            on_progress=progress_printer(self),
            **baseline_arguments(asked),
        )
        help_through(job, progress_printer(self))
        refuse_failed(job)
        for made in job.result.get("made", []):
            self.stdout.write(self.style.SUCCESS(f"made {made}"))
        return True


def _systems(options: dict[str, Any]) -> list[str]:
    if options["all"]:
        return [entry.name for entry in CATALOG.values() if entry.is_available]
    return options["system"] or list(LEXICAL)
