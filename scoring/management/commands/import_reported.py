"""`manage.py import_reported SLUG FILE… --user NAME`: values from result files of MTEB."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import actor_of, benchmark_of
from benchmarks_app.models import Benchmark
from benchwright.errors import BenchmarkError
from scoring.boards.services import reported
from scoring.management.reporting import release_of

# MTEB writes this beside the results; it holds no value.
NO_RESULTS = "model_meta.json"


class Command(BaseCommand):
    help = "Take over values of MTEB result files; they are shown as reported, and never ranked."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="short name of the benchmark")
        parser.add_argument("files", nargs="+", help="result files, JSON")
        parser.add_argument("--user", help="who reports them; by default an owner of the benchmark")
        parser.add_argument("--system", default="", help="whose they are, if the file has no model")
        parser.add_argument("--task", default="", help="which task, if the file has several")
        parser.add_argument("--source", default="", help="where they are from; the file's name")
        parser.add_argument("--release", help="of which release they are, if that is known")

    def handle(self, *args: Any, slug: str, files: list[str], **options: Any) -> None:
        benchmark = benchmark_of(slug)
        for file in files:
            if Path(file).name == NO_RESULTS:
                continue
            self._take_over(benchmark, Path(file), options)

    def _take_over(self, benchmark: Benchmark, path: Path, options: dict[str, Any]) -> None:
        version = options["release"]
        try:
            found = reported.import_mteb(
                benchmark=benchmark,
                user=actor_of(benchmark, options["user"]),
                content=path.read_bytes(),
                file=path.name,
                system=options["system"],
                source=options["source"],
                task=options["task"],
                release=release_of(benchmark, version) if version else None,
            )
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}.") from error
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        systems = ", ".join(found.systems)
        self.stdout.write(
            f"{path.name}: {found.n_new} values of {systems} on {found.task}, "
            f"{found.n_known} were there already"
        )
