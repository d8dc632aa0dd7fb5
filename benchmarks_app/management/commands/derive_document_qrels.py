from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.collections.services.units import derive_document_qrels
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    benchmark_of,
    qrels_of,
)
from benchwright.errors import BenchmarkError


class Command(BaseCommand):
    help = "Derive grades of documents from grades of passages: the highest of a document's."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("qrels", help="name of the set that grades passages")
        parser.add_argument("--from", dest="source", help="the benchmark it is of, if another")
        parser.add_argument("--name", default="", help="of the new set")

    def handle(
        self, *args: Any, slug: str, user: str | None, qrels: str, name: str, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        source = benchmark_of(options["source"]) if options["source"] else benchmark
        if source.corpus_id != benchmark.corpus_id:
            raise CommandError(f"'{source.slug}' is on another corpus than '{slug}'.")
        found = qrels_of(source, qrels)
        try:
            made = derive_document_qrels(
                benchmark=benchmark, qrel_set=found, actor=actor_of(benchmark, user), name=name
            )
        except BenchmarkError as error:
            raise CommandError(str(error)) from error
        told = f"qrels '{made}': {made.n_qrels:,} grades of documents, {made.n_relevant:,} relevant"
        self.stdout.write(self.style.SUCCESS(told))
