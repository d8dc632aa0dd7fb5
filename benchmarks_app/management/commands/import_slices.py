from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.importing import ImportCommand
from benchmarks_app.slices.services import importing_slices
from benchwright.recipes.arguments import word


class Command(ImportCommand):
    help = "Put queries into slices as a file says: query-id, tab, slice."
    takes = (word("file", kind=Path),)

    def run(self, *, file: Path, **options: Any) -> None:
        if not file.is_file():
            raise CommandError(f"{file}: no such file.")
        self.finished(importing_slices.import_arguments(self.upload(file)))
