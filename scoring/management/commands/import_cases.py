"""`manage.py import_cases SLUG FILE --images DIR`: take in cases of contextual precision."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.declared import refuse_failed
from benchmarks_app.management.importing import ImportCommand
from benchmarks_app.models import Upload
from benchwright.recipes.arguments import option, unless_told, word
from scoring.contextual.services.images import receive_folder
from scoring.contextual.services.importing import import_arguments


class Command(ImportCommand):
    help = "Import a file of cases for contextual precision, with the images they show."
    takes = (
        word("file", "JSON lines; also .gz, .zst", kind=Path),
        unless_told(
            "--images",
            kind=Path,
            help="a folder of images, or one zip; names are those in cases",
        ),
        option("--name", help="of the set; the file's where left out"),
    )

    def run(self, *, file: Path, images: Path | None, name: str, **options: Any) -> None:
        try:
            uploads: dict[str, Any] = {
                "cases": self.upload(file),
                "images": images and self._images(images),
            }
        except OSError as error:
            raise CommandError(str(error)) from error
        job = self.job(import_arguments(benchmark=self.benchmark, name=name, **uploads))
        refuse_failed(job)
        for note in job.result["notes"]:
            self.say(note)
        self.say_made(job)

    def _images(self, path: Path) -> Upload | None:
        if not path.is_dir():
            return self.upload(path)
        return receive_folder(benchmark=self.benchmark, owner=self.actor, folder=path)
