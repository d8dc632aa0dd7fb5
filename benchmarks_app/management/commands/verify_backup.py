from pathlib import Path
from typing import Any

from benchmarks_app.management.backups import Progress, ending_clearly
from benchmarks_app.management.declared import FORM, DeclaredCommand, is_json
from benchwright.backups.layout import BackupFolder
from benchwright.backups.verifying import Verdict, verify
from benchwright.recipes.arguments import word
from benchwright.texts.counting import counted


class Command(DeclaredCommand):
    help = "Read a folder of backups from first byte to last; ends with 1 where one is damaged."
    requires_system_checks = ()  # it looks at the folder alone
    takes = (
        word("place", "folder of backups", metavar="DIR"),
        word("snapshot", "one of them; all by default", many="?", default=""),
        *FORM,
    )

    def handle(self, *args: Any, place: str, snapshot: str, **options: Any) -> None:
        progress = Progress(self.stderr, is_on=bool(options["verbosity"]))
        folder = BackupFolder(Path(place).absolute())
        with ending_clearly(self.stderr, place=place, nothing="Not all was read."):
            chosen_snapshot = folder.snapshot(snapshot)
            with folder.held(for_reading=True):
                snapshots = [chosen_snapshot] if snapshot else folder.snapshots()
                verdict = verify(
                    folder,
                    snapshots,
                    lambda n, n_all: progress(f"{n:,} of {counted(n_all, 'file')}"),
                )
        if is_json(options):
            self.say_json(verdict.as_json())
        else:
            self._say(verdict)
        if verdict.damages:
            raise SystemExit(1)

    def _say(self, verdict: Verdict) -> None:
        for damage in verdict.damages:
            self.say_wrong(f"{damage.snapshot}: {damage}")
        self.say_ended(
            f"{counted(verdict.n_snapshots, 'snapshot')}, {counted(verdict.n_rows, 'row')}, "
            f"{counted(verdict.n_objects, 'file')} of {verdict.n_bytes:,} bytes: "
            f"{len(verdict.damages):,} missing or altered",
            is_broken=bool(verdict.damages),
        )
