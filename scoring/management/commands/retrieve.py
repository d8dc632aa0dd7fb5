"""`manage.py retrieve SLUG --system bm25-stem -o run.trec`: a lexical system's run as a file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.management.importing import benchmark_of
from scoring.core.retrieval import SYSTEMS
from scoring.services.baselines import DEPTH, retrieve


class Command(BaseCommand):
    help = "Search a benchmark's corpus with a lexical system and write a TREC run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="short name of the benchmark")
        parser.add_argument("--system", default="bm25-stem", help=", ".join(SYSTEMS))
        parser.add_argument("--k", type=int, default=DEPTH, help="documents a query")
        parser.add_argument("-o", "--output", type=Path, required=True, help="file to write")

    def handle(
        self, *args: Any, slug: str, system: str, k: int, output: Path, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        try:
            n = retrieve(benchmark=benchmark, system=system, k=k, path=output)
        except (BenchmarkError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(self.style.SUCCESS(f"{n:,} results of {system} in {output}"))
