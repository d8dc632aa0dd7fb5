from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from benchmarks_app.management.corpus_options import add_corpus_arguments, corpus_arguments
from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    add_grades_arguments,
    add_leave_out_argument,
    benchmark_of,
    grades_arguments,
    import_path,
    packed,
)


class Command(BaseCommand):
    help = "Import a BEIR folder or zip: corpus.jsonl, queries.jsonl and qrels/*.tsv, also as .gz."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("path", type=Path, help="folder or zip")
        parser.add_argument("--name", default="", help="name of the set of qrels")
        add_grades_arguments(parser)
        add_leave_out_argument(parser)
        add_corpus_arguments(parser)

    def handle(
        self, *args: Any, slug: str, user: str | None, path: Path, name: str, **options: Any
    ) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        with packed(path) as file:
            import_path(
                self,
                benchmark,
                actor,
                file,
                kind="beir",
                name=name,
                leave_out=options["leave_out"],
                corpus=corpus_arguments(options),
                **grades_arguments(options),
            )
