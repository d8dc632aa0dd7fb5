"""`manage.py make_baselines SLUG`: four lexical systems as runs of a benchmark."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    progress_printer,
)
from benchmarks_app.services import jobs
from scoring.management.reporting import refuse_failed
from scoring.services.baselines import baselines_arguments


class Command(BaseCommand):
    help = "Make the lexical baselines that a benchmark lacks, as runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)

    def handle(self, *args: Any, slug: str, user: str | None, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        job = jobs.run_here(
            benchmark=benchmark,
            user=actor_of(benchmark, user),
            on_progress=progress_printer(self),
            **baselines_arguments(),
        )
        refuse_failed(job)
        for made in job.result["made"]:
            self.stdout.write(self.style.SUCCESS(f"made {made}"))
        if not job.result["made"]:
            self.stdout.write("All baselines are there already.")
