"""`manage.py ask_system SLUG NAME`: every query asked of a live system, as a run."""

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
from benchmarks_app.models import Benchmark, Job
from benchwright.errors import BenchmarkError
from benchwright.recipes import live
from scoring.live.selectors import SPLITS, live_systems_of
from scoring.live.services.asking import ask_arguments, free_run_name
from scoring.management.reporting import refuse_failed, release_of
from scoring.models import LiveSystem


class Command(BaseCommand):
    help = "Ask a live system every query of a benchmark and make a run of its answers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("name", help="of the live system")
        parser.add_argument("--run", default="", help="name of the run; the system's with the day")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--split", default="", choices=SPLITS, help="queries of one split")
        which.add_argument("--release", default="", help="queries of a published release")
        add_parameters(parser, live.MAY_FAIL)

    def handle(self, *args: Any, slug: str, user: str | None, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        if options["release"]:
            release_of(benchmark, options["release"])
        try:
            job = self._asked(_system_of(benchmark, options["name"]), user, options)
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        refuse_failed(job)
        for note in job.result.get("notes", []):
            self.stderr.write(f"note: {note}")
        for made in job.result["made"]:
            self.stdout.write(self.style.SUCCESS(f"made {made}"))

    def _asked(self, system: LiveSystem, user: str | None, options: dict[str, Any]) -> Job:
        arguments = ask_arguments(
            system=system,
            run=options["run"] or free_run_name(system),
            split=options["split"],
            release=options["release"],
            may_fail=options["may_fail"],
        )
        return jobs.run_here(
            benchmark=system.benchmark,
            user=actor_of(system.benchmark, user),
            on_progress=progress_printer(self),
            **arguments,
        )


def _system_of(benchmark: Benchmark, name: str) -> LiveSystem:
    systems = live_systems_of(benchmark)
    found = systems.filter(name=name).first()
    if found is None:
        known = ", ".join(one.name for one in systems[:10]) or "none yet"
        raise CommandError(f"'{benchmark.slug}' has no live system '{name}'. There are: {known}.")
    return found
