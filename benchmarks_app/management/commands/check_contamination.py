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
from benchmarks_app.models import ContaminationCheck, Job
from benchmarks_app.splits.services import contamination
from benchwright.errors import BenchmarkError


class Command(BaseCommand):
    help = "Compare a benchmark's queries with a list from outside, or with a sketch of one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("file", type=Path, nargs="?", help="list of queries, or sketch")
        parser.add_argument("--name", default="", help="what the list is; by default the file's")
        parser.add_argument("--salt", default="", help="of a sketch with a salt of its owner's")
        parser.add_argument(
            "--show-salt", action="store_true", help="print the salt for `benchwright sketch`"
        )
        parser.add_argument(
            "--make-slice", action="store_true", help="make a slice of the clean queries"
        )

    def handle(self, *args: Any, slug: str, user: str | None, **given: Any) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        if given["show_salt"]:
            self.stdout.write(contamination.salt_of(benchmark))
            return
        path: Path | None = given["file"]
        if path is None or not path.exists():
            raise CommandError(f"{path}: no such file." if path else "Name the file to check.")
        try:
            upload = uploading.receive_path(benchmark=benchmark, owner=actor, path=path)
            arguments = contamination.check_arguments(
                benchmark=benchmark, upload=upload, name=given["name"], salt=given["salt"]
            )
            job = jobs.run_here(
                benchmark=benchmark, user=actor, on_progress=progress_printer(self), **arguments
            )
            check = self._check(job)
            self._print(check)
            if given["make_slice"]:
                made = contamination.make_clean_slice(check=check, user=actor)
                self.stdout.write(self.style.SUCCESS(f"slice {made.name}"))
        except BenchmarkError as error:
            raise CommandError(str(error)) from error

    def _check(self, job: Job) -> ContaminationCheck:
        if job.state == Job.State.FAILED:
            lines = [f"{p['file']}:{p['line']}: {p['text']}" for p in job.problems]
            raise CommandError("\n".join([job.error, *lines]))
        checks = ContaminationCheck.objects.filter(benchmark=job.benchmark)
        return checks.get(name=job.parameters["name"])

    def _print(self, check: ContaminationCheck) -> None:
        self.stdout.write(f"{check.name}: {check.n_outside:,} queries outside")
        for row in check.result["slices"]:
            counts = ("n_exact", "the same"), ("n_near", "nearly"), ("n_possible", "possibly")
            said = ", ".join(f"{row[key]:,} {words}" for key, words in counts)
            line = f"{row['name']}: {row['n']:,} queries, {said}, {row['n_clean']:,} clean"
            self.stdout.write(line)
