"""`manage.py retrieve SLUG --system bm25-stem -o run.trec`: a system's run as a file."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.declared import BENCHMARK, BenchmarkCommand
from benchwright.recipes import systems
from benchwright.recipes.arguments import option, unless_told
from benchwright.retrieval.catalog import CATALOG
from scoring.systems.services.baselines import retrieve


class Command(BenchmarkCommand):
    help = "Search a benchmark's corpus with a system of this site and write a TREC run."
    first = (BENCHMARK,)
    takes = (
        option("--system", default="bm25-stem", help=", ".join(CATALOG)),
        systems.DEPTH,
        option("--language", help="code or name; that of the corpus"),
        systems.SHARDS,
        unless_told("-o", "--output", kind=Path, is_required=True, help="file to write"),
    )

    def run(self, *, system: str, output: Path, **options: Any) -> None:
        tell = self.progress
        try:
            n = retrieve(
                benchmark=self.benchmark,
                system=system,
                k=options["depth"],
                path=output,
                language=options["language"],
                n_shards=options["shards"],
                progress=(lambda done, total: tell(done, total, "queries")) if tell else None,
            )
        except OSError as error:
            raise CommandError(str(error)) from error
        self.say_done(f"{n:,} results of {system} in {output}")
