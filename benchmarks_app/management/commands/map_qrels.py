from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.common.selectors.qrel_sets import merged_before
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    qrels_of,
)
from benchmarks_app.releases.services.qrel_sets import map_qrels
from benchwright.errors import BenchmarkError
from benchwright.formats.unlisted import UNLISTED


class Command(BaseCommand):
    help = "Map an imported set of qrels to other grades, as a new set beside it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("qrels", help="name of the set")
        parser.add_argument("--grade-map", default="", help="such as 1=2,2=3,-1=0")
        parser.add_argument(
            "--unlisted",
            choices=UNLISTED,
            default="",
            help="what documents are that it does not list; otherwise as the set says",
        )
        parser.add_argument("--name", default="", help="of the new set")

    def handle(self, *args: Any, slug: str, user: str | None, qrels: str, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        said = {name: options[name] for name in ("name", "grade_map", "unlisted")}
        qrel_set = qrels_of(benchmark, qrels)
        if told := merged_before(qrel_set):
            self.stderr.write(f"note: {told}")
        try:
            made = map_qrels(qrel_set=qrel_set, actor=actor_of(benchmark, user), **said)
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        told = f"qrels '{made}': {made.n_qrels:,} grades, {made.n_relevant:,} relevant"
        self.stdout.write(self.style.SUCCESS(told))
