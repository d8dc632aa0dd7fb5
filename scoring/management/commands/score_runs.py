"""`manage.py score_runs SLUG [--release 1.2.0]`: score every run that has no scores there yet."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    progress_printer,
)
from scoring.management.reporting import refuse_failed, release_of
from scoring.rescoring.services.rescoring import scoring_runs_arguments


class Command(BaseCommand):
    help = "Score the runs that a release (the newest where none is named) has no scores of."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("--release", help="version, such as 1.2.0")

    def handle(
        self, *args: Any, slug: str, user: str | None, release: str | None, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        job = jobs.run_here(
            benchmark=benchmark,
            user=actor_of(benchmark, user),
            on_progress=progress_printer(self),
            **scoring_runs_arguments(release_of(benchmark, release)),
        )
        refuse_failed(job)
        for note in job.result["notes"]:
            self.stderr.write(f"left out {note}")
        for made in job.result["made"]:
            self.stdout.write(self.style.SUCCESS(f"made {made}"))
