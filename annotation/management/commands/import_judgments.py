from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.labels.services.importing_labels import labels_arguments
from annotation.models import Pool
from benchmarks_app.collections.services import uploading
from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    progress_printer,
)
from benchmarks_app.models import Benchmark, Job
from benchwright.errors import BenchmarkError
from benchwright.qrels.raters import read_accounts


class Command(BaseCommand):
    help = "Enter labels given elsewhere: TREC qrels, or CSV or TSV with perhaps annotators."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("pool", nargs="?", help="name of the pool they are for, if for one")
        parser.add_argument("path", type=Path)
        parser.add_argument("--rater", default="", help="who gave them, where the file is silent")
        parser.add_argument("--source", default="", help="where they are from")
        parser.add_argument(
            "--account",
            action="append",
            default=[],
            metavar="RATER=USERNAME",
            help="whose account a rater of the file is; 'RATER=' for none. By default the member "
            "of the rater's name, if there is one. May be repeated",
        )
        parser.add_argument(
            "--machine",
            action="append",
            metavar="RATER",
            help="a rater that is a machine: its labels are kept apart. By default those whose "
            "name looks like a model's. May be repeated",
        )
        parser.add_argument(
            "--no-machine", action="store_true", help="no rater is a machine, whatever its name"
        )
        parser.add_argument("--grade-map", default="", help="such as '1=4, 2=3, -1=0'")

    def handle(
        self, *args: Any, slug: str, user: str | None, pool: str, path: Path, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        given = {key: options[key] for key in ("rater", "source", "grade_map")}
        if options["machine"] and options["no_machine"]:
            raise CommandError("Give --machine or --no-machine, not both.")
        given["machines"] = [] if options["no_machine"] else options["machine"]
        try:
            given["accounts"] = read_accounts(options["account"])
            upload = uploading.receive_path(benchmark=benchmark, owner=actor, path=path)
            arguments = labels_arguments(upload=upload, pool=_pool(benchmark, pool), **given)
        except (BenchmarkError, OSError) as error:
            raise CommandError(str(error)) from error
        job = jobs.run_here(
            benchmark=benchmark, user=actor, on_progress=progress_printer(self), **arguments
        )
        self._say(job)

    def _say(self, job: Job) -> None:
        if job.state == Job.State.FAILED:
            lines = [f"{p['file']}:{p['line']}: {p['text']}" for p in job.problems]
            raise CommandError("\n".join([job.error, *lines]))
        for made in job.result["made"]:
            self.stdout.write(self.style.SUCCESS(f"entered {made}"))
        for note in job.result["notes"]:
            self.stdout.write(note)


def _pool(benchmark: Benchmark, name: str | None) -> Pool | None:
    if name is None:
        return None
    found = Pool.objects.built().filter(benchmark=benchmark, name=name).first()
    if found is None:
        raise CommandError(f"No pool '{name}' in {benchmark.slug}.")
    return found
