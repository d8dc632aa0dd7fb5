from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.management.importing import (
    actor_of,
    add_benchmark_arguments,
    add_grades_arguments,
    add_leave_out_argument,
    benchmark_of,
    grades_arguments,
    import_each,
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
        add_grades_arguments(parser)
        add_leave_out_argument(parser)

    def handle(self, *args: Any, slug: str, user: str | None, **options: Any) -> None:
        benchmark = benchmark_of(slug)
        actor = actor_of(benchmark, user)
        kinds = ("corpus", "ids", "topics", "queries", "qrels")
        given = [(kind, options[kind]) for kind in kinds if options[kind]]
        if not given:
            why = "Name at least one file: --corpus, --ids, --topics, --queries or --qrels."
            raise CommandError(why)
        imports = []
        for kind, path in given:
            said = {"kind": kind, "leave_out": options["leave_out"]}
            if kind == "qrels":
                said |= {"name": options["name"], **grades_arguments(options)}
                if options["every_row_relevant"]:
                    said["kind"] = "qrel-table"
            imports.append((path, partial(import_path, self, benchmark, actor, path, **said)))
        import_each(self, imports, options["leave_out"])
