from pathlib import Path
from typing import Any

from benchmarks_app.management.importing import (
    CORPUS,
    GRADES,
    LEAVE_OUT,
    ImportCommand,
    corpus_arguments,
    grades_arguments,
)
from benchwright.files.archives import packed
from benchwright.recipes.arguments import option, word


class Command(ImportCommand):
    help = "Import a BEIR folder or zip: corpus.jsonl, queries.jsonl and qrels/*.tsv, also as .gz."
    takes = (
        word("path", "folder or zip", kind=Path),
        option("--name", help="name of the set of qrels"),
        *GRADES,
        LEAVE_OUT,
        *CORPUS,
    )

    def run(self, *, path: Path, name: str, leave_out: str, **options: Any) -> None:
        arguments = {"corpus": corpus_arguments(options), **grades_arguments(options)}
        with packed(path) as file:
            self.bring(file, kind="beir", name=name, leave_out=leave_out, **arguments)
