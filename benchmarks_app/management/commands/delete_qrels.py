from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    qrels_of,
)
from benchmarks_app.releases.services.qrel_sets import delete_qrels
from benchwright.errors import BenchmarkError


class Command(BaseCommand):
    help = "Delete a set of qrels that no release uses; its file may be imported again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("qrels", help="name of the set")

    def handle(self, *args: Any, slug: str, user: str | None, qrels: str, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        try:
            delete_qrels(qrel_set=qrels_of(benchmark, qrels), actor=actor_of(benchmark, user))
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(self.style.SUCCESS(f"qrels '{qrels}' are deleted"))
