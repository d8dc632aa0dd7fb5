import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from benchmarks_app.management.importing import person_named
from benchmarks_app.people.services.person_export import export_person


class Command(BaseCommand):
    help = "Write all that is known of a person, as a zip of JSON lines."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("file", help="the zip; - is standard output")

    def handle(self, *args: Any, username: str, file: str, **options: Any) -> None:
        pieces = export_person(user=person_named(username), actor=None)
        if file == "-":
            for piece in pieces:
                sys.stdout.buffer.write(piece)
            return
        with Path(file).open("wb") as out:
            for piece in pieces:
                out.write(piece)
        self.stdout.write(self.style.SUCCESS(f"{file}: {Path(file).stat().st_size:,} bytes"))
