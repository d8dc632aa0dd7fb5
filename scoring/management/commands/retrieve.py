"""`manage.py retrieve SLUG --system bm25-stem -o run.trec`: a system's run as a file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import benchmark_of, progress_printer
from benchmarks_app.management.parameters import add_parameter
from benchwright.errors import BenchmarkError
from benchwright.recipes import retrieval
from benchwright.retrieval.catalog import CATALOG
from scoring.systems.services.baselines import retrieve


class Command(BaseCommand):
    help = "Search a benchmark's corpus with a system of this site and write a TREC run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="short name of the benchmark")
        parser.add_argument("--system", default="bm25-stem", help=", ".join(CATALOG))
        add_parameter(parser, retrieval.DEPTH, "--k")
        parser.add_argument("--language", default="", help="code or name; that of the corpus")
        add_parameter(parser, retrieval.SHARDS)
        parser.add_argument("-o", "--output", type=Path, required=True, help="file to write")

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        system, output = options["system"], options["output"]
        tell = progress_printer(self)
        try:
            n = retrieve(
                benchmark=benchmark_of(slug),
                system=system,
                k=options["depth"],
                path=output,
                language=options["language"],
                n_shards=options["shards"],
                progress=(lambda done, total: tell(done, total, "queries")) if tell else None,
            )
        except (BenchmarkError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(self.style.SUCCESS(f"{n:,} results of {system} in {output}"))
