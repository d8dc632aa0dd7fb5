from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.importing import GRADES, LEAVE_OUT, ImportCommand, grades_arguments
from benchwright.recipes.arguments import option, unless_told

FILES = (
    unless_told("--corpus", kind=Path, help="JSON lines with _id, title, text"),
    unless_told("--ids", kind=Path, help="a document id a line: a corpus without texts"),
    unless_told("--topics", kind=Path, help="TREC topics"),
    unless_told("--queries", kind=Path, help="CSV, TSV or JSON lines"),
    unless_told("--qrels", kind=Path, help="TREC qrels"),
)


class Command(ImportCommand):
    help = "Import TREC topics and qrels, a table of queries, a corpus, or a list of ids."
    takes = (*FILES, option("--name", help="name of the set of qrels"), *GRADES, LEAVE_OUT)

    def run(self, *, leave_out: str, **options: Any) -> None:
        files = {
            file_option.name: options[file_option.name]
            for file_option in FILES
            if options[file_option.name]
        }
        if not files:
            why = "Name at least one file: --corpus, --ids, --topics, --queries or --qrels."
            raise CommandError(why)
        imports = []
        for kind, path in files.items():
            arguments = {"kind": kind, "leave_out": leave_out}
            if kind == "qrels":
                arguments |= {"name": options["name"], **grades_arguments(options)}
                if options["every_row_relevant"]:
                    arguments["kind"] = "qrel-table"
            imports.append((path, partial(self.bring, path, **arguments)))
        self.import_each(imports, leave_out)
