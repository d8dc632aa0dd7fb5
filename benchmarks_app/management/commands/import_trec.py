from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    add_unlisted_argument,
    benchmark_of,
    import_path,
)


class Command(BaseCommand):
    help = "Import TREC topics and qrels, a table of queries, a corpus, or a list of ids."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_benchmark_arguments(parser)
        parser.add_argument("--corpus", type=Path, help="JSON lines with _id, title, text")
        parser.add_argument("--ids", type=Path, help="a document id a line: a corpus without texts")
        parser.add_argument("--topics", type=Path, help="TREC topics")
        parser.add_argument("--queries", type=Path, help="CSV, TSV or JSON lines")
        parser.add_argument("--qrels", type=Path, help="TREC qrels")
        parser.add_argument("--name", default="", help="name of the set of qrels")
        parser.add_argument("--grade-map", default="", help="such as 1=4,2=3,3=2,4=1,-1=0")
        add_unlisted_argument(parser)

    def handle(self, *args: Any, slug: str, user: str | None, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        kinds = ("corpus", "ids", "topics", "queries", "qrels")
        given = [(kind, options[kind]) for kind in kinds if options[kind]]
        if not given:
            why = "Name at least one file: --corpus, --ids, --topics, --queries or --qrels."
            raise CommandError(why)
        for kind, path in given:
            more = {name: options[name] for name in ("name", "grade_map", "unlisted", "machine")}
            import_path(
                self, benchmark, actor, path, kind=kind, **(more if kind == "qrels" else {})
            )
