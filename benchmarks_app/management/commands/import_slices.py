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
    finished,
)
from benchmarks_app.slices.services import importing_slices
from benchwright.errors import BenchmarkError


class Command(BaseCommand):
    help = "Put queries into slices as a file says: query-id, tab, slice."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, slug: str, user: str | None, file: Path, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        if not file.is_file():
            raise CommandError(f"{file}: no such file.")
        try:
            upload = uploading.receive_path(benchmark=benchmark, owner=actor, path=file)
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        arguments = importing_slices.import_arguments(upload)
        finished(self, jobs.run_here(benchmark=benchmark, user=actor, **arguments))
