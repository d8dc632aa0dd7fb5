"""`manage.py import_cases SLUG FILE --images DIR`: take in cases of contextual precision."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.collections.services import uploading
from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    progress_printer,
)
from benchmarks_app.models import Benchmark, Job, User
from benchwright.errors import BenchmarkError
from scoring.contextual.services.images import receive_folder
from scoring.contextual.services.importing import import_arguments
from scoring.management.reporting import refuse_failed


class Command(BaseCommand):
    help = "Import a file of cases for contextual precision, with the images they show."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("file", type=Path, help="JSON lines; also .gz, .zst")
        parser.add_argument(
            "--images", type=Path, help="a folder of images, or one zip; names are those in cases"
        )
        parser.add_argument("--name", default="", help="of the set; the file's where left out")

    def handle(self, *args: Any, slug: str, user: str | None, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        try:
            job = self._import(benchmark, actor, options)
        except (BenchmarkError, OSError) as error:
            raise CommandError(str(error)) from error
        refuse_failed(job)
        for note in job.result["notes"]:
            self.stdout.write(note)
        for made in job.result["made"]:
            self.stdout.write(self.style.SUCCESS(f"made {made}"))

    def _import(self, benchmark: Benchmark, user: User, options: dict[str, Any]) -> Job:
        cases = uploading.receive_path(benchmark=benchmark, owner=user, path=options["file"])
        images: Path | None = options["images"]
        sent = None
        if images is not None and images.is_dir():
            sent = receive_folder(benchmark=benchmark, owner=user, folder=images)
        elif images is not None:
            sent = uploading.receive_path(benchmark=benchmark, owner=user, path=images)
        name = options["name"]
        arguments = import_arguments(benchmark=benchmark, name=name, cases=cases, images=sent)
        printer = progress_printer(self)
        return jobs.run_here(benchmark=benchmark, user=user, on_progress=printer, **arguments)
