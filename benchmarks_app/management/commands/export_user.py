import sys
from pathlib import Path
from typing import Any

from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.management.naming import person_named
from benchmarks_app.people.services.person_export import export_person
from benchwright.cli.files import written
from benchwright.recipes.arguments import word


class Command(DeclaredCommand):
    help = "Write all that is known of a person, as a zip of JSON lines."
    takes = (word("username"), word("file", "the zip; - is standard output"))

    def handle(self, *args: Any, username: str, file: str, **options: Any) -> None:
        pieces = export_person(user=person_named(username), actor=None)
        if file == "-":
            sys.stdout.buffer.writelines(pieces)
            return
        with written(Path(file), is_private=True) as out:
            out.writelines(pieces)
        self.say_done(f"{file}: {Path(file).stat().st_size:,} bytes")
