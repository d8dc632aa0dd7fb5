import shutil
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from benchmarks_app.management.corpus_options import add_corpus_arguments, corpus_arguments
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    add_unlisted_argument,
    benchmark_of,
    import_path,
)


class Command(BaseCommand):
    help = "Import a BEIR folder or zip: corpus.jsonl, queries.jsonl and qrels/*.tsv, also as .gz."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("path", type=Path, help="folder or zip")
        parser.add_argument("--name", default="", help="name of the set of qrels")
        add_unlisted_argument(parser)
        add_corpus_arguments(parser)

    def handle(
        self, *args: Any, slug: str, user: str | None, path: Path, name: str, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        with tempfile.TemporaryDirectory() as folder:
            # A folder is kept as one file, byte for byte, like any other upload.
            file = _zipped(path, Path(folder)) if path.is_dir() else path
            import_path(
                self,
                benchmark,
                actor,
                file,
                kind="beir",
                name=name,
                unlisted=options["unlisted"],
                machine=options["machine"],
                corpus=corpus_arguments(options),
            )


def _zipped(folder: Path, into: Path) -> Path:
    return Path(shutil.make_archive(str(into / folder.name), "zip", folder))
