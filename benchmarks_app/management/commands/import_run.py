from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.importing import ImportCommand
from benchwright.recipes.arguments import option, word


class Command(ImportCommand):
    help = "Import TREC runs; each is named after its file unless --name is given."
    takes = (
        word("paths", kind=Path, many="+"),
        option("--name", help="name of the run, where there is one file"),
    )

    def run(self, *, paths: list[Path], name: str, **options: Any) -> None:
        if name and len(paths) > 1:
            raise CommandError("--name goes with one file.")
        for path in paths:
            self.bring(path, kind="run", name=name)
