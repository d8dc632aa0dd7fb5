from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    finished,
)
from benchmarks_app.models import Benchmark, QrelSet
from benchmarks_app.services import jobs
from benchmarks_app.services.releasing import proposed_version, release_arguments


class Command(BaseCommand):
    help = "Publish a release that pins a set of qrels."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("--qrels", required=True, help="name of the set")
        parser.add_argument("--release", default="", help="such as 1.0.0; by default the next one")
        parser.add_argument("--notes", default="")

    def handle(
        self, *args: Any, slug: str, user: str | None, qrels: str, notes: str, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        version = options["release"] or proposed_version(benchmark)
        try:
            arguments = release_arguments(
                qrel_set=_set_of(benchmark, qrels), version=version, notes=notes
            )
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        actor = actor_of(benchmark, user)
        finished(self, jobs.run_here(benchmark=benchmark, user=actor, **arguments))
        self.stdout.write(self.style.SUCCESS(f"published {slug} {version}"))


def _set_of(benchmark: Benchmark, name: str) -> QrelSet:
    sets = QrelSet.objects.ready().filter(benchmark=benchmark)
    found = sets.filter(name=name).first()
    if found is None:
        known = ", ".join(sets.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"No set of qrels '{name}'. There are: {known}.")
    return found
