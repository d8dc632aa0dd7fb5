from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.jobs.services import jobs
from benchmarks_app.logs.services import importing_logs
from benchmarks_app.logs.services.importing_logs import Reading
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    finished,
    progress_printer,
)
from benchmarks_app.management.parameters import add_parameters
from benchwright.errors import BenchmarkError
from benchwright.logs.columns import LABELS, LogColumns
from benchwright.logs.masking import KIND_LABELS, checked_regions
from benchwright.recipes import sampling as recipe


class Command(BaseCommand):
    help = "Read a query log: mask personal data, count distinct queries, put them into families."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("log", type=Path, help="CSV, TSV, JSON lines, Parquet; also .gz, .zst")
        parser.add_argument("--name", default="", help="what the log is called; the file's name")
        for role, label in LABELS.items():
            parser.add_argument(f"--{role}", default="", help=f"column: {label}")
        add_parameters(parser, recipe.FLOOR)
        parser.add_argument(
            "--mask", nargs="*", default=list(KIND_LABELS), metavar="KIND", help="only these kinds"
        )
        parser.add_argument(
            "--regions",
            metavar="CC,CC",
            help="countries whose telephone numbers and numbers of people are masked, or none; "
            "those of the site (LOG_REGIONS)",
        )
        parser.add_argument("--lenient", action="store_true", help="leave unreadable rows out")
        parser.add_argument("--keep-raw", action="store_true", help="keep the file on the site")

    def handle(self, *args: Any, slug: str, user: str | None, log: Path, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        if not log.exists():
            raise CommandError(f"{log}: no such file.")
        named = {role: options[role] for role in LABELS if options[role]}
        try:
            regions = None if options["regions"] is None else checked_regions(options["regions"])
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        reading = Reading(
            name=options["name"],
            columns=LogColumns.of(named) if named else None,
            kinds=tuple(options["mask"]),
            regions=regions,
            floor=options["floor"],
            is_lenient=options["lenient"],
            keeps_raw=options["keep_raw"],
        )
        pending = None
        try:
            pending = importing_logs.receive_log_path(benchmark=benchmark, user=actor, path=log)
            arguments = importing_logs.log_arguments(pending=pending, reading=reading)
            job = jobs.run_here(
                benchmark=benchmark, user=actor, on_progress=progress_printer(self), **arguments
            )
            finished(self, job)
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        finally:
            # The file is still where it was: what the site was given of it need not wait there.
            if pending and benchmark.uploads.filter(pending_log=pending.pk).exists():
                importing_logs.discard_pending(pending=pending, user=actor)
