import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from benchmarks_app.management.backups import Progress, ending_clearly
from benchwright.backups.layout import BackupFolder
from benchwright.backups.verifying import Verdict, verify


class Command(BaseCommand):
    help = "Read a folder of backups from first byte to last; ends with 1 where one is damaged."
    requires_system_checks = ()  # it looks at the folder alone

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("place", metavar="DIR", help="folder of backups")
        parser.add_argument("snapshot", nargs="?", default="", help="one of them; all by default")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, place: str, snapshot: str, **options: Any) -> None:
        progress = Progress(self.stderr, is_on=bool(options["verbosity"]))
        folder = BackupFolder(Path(place).absolute())
        with ending_clearly(self.stderr, place=place, nothing="Not all was read."):
            wanted = folder.snapshot(snapshot)
            with folder.held(for_reading=True):
                snapshots = [wanted] if snapshot else folder.snapshots()
                verdict = verify(
                    folder, snapshots, lambda n, n_all: progress(f"{n:,} of {n_all:,} files")
                )
        if options["json"]:
            self.stdout.write(json.dumps(verdict.as_json(), indent=2, ensure_ascii=False))
        else:
            self._say(verdict)
        if verdict.damages:
            raise SystemExit(1)

    def _say(self, verdict: Verdict) -> None:
        for one in verdict.damages:
            self.stdout.write(self.style.ERROR(f"{one.snapshot}: {one}"))
        said = (
            f"{verdict.n_snapshots:,} snapshots, {verdict.n_rows:,} rows, "
            f"{verdict.n_objects:,} files of {verdict.n_bytes:,} bytes: "
            f"{len(verdict.damages):,} missing or altered"
        )
        self.stdout.write(self.style.ERROR(said) if verdict.damages else self.style.SUCCESS(said))
