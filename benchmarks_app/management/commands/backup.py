import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from benchmarks_app.backups.services.backing_up import back_up
from benchmarks_app.management.backups import NOTHING_DONE, Progress, ending_clearly
from benchmarks_app.management.declared import FORM, DeclaredCommand, is_json
from benchmarks_app.models import Backup
from benchwright.backups.targets import FolderTarget, Target, TarTarget
from benchwright.recipes.arguments import unless_told, word
from benchwright.texts.counting import counted


class Command(DeclaredCommand):
    help = (
        "Back up the whole site while it works: all rows as of one moment, and new files. Ends "
        "with 1 where a file is broken or --keep did not end, with 2 where nothing was written."
    )
    takes = (
        word("place", "folder of backups; - is a tar to stdout", metavar="DIR|-"),
        unless_told("--keep", kind=int, metavar="N", help="remove all but the newest N"),
        *FORM,
    )

    def handle(self, *args: Any, place: str, keep: int | None, **options: Any) -> None:
        if keep is not None and (keep < 1 or place == "-"):
            text = "--keep takes a number from 1, and a folder of backups."
            raise CommandError(text, returncode=NOTHING_DONE)
        if place == "-":
            # Nothing but the stream is on standard output.
            self.stdout = self.stderr
        progress = Progress(self.stderr, is_on=bool(options["verbosity"]))
        nothing = "No snapshot was written; earlier ones are what they were."
        disk = f"of {settings.STAGING_DIR}, or where the stream goes" if place == "-" else place
        n_removed = 0
        with ending_clearly(self.stderr, place=disk, nothing=nothing) as ending:
            target = self._target(place)
            backup = back_up(target, progress)
            ending.text = f"{backup.snapshot} was written; earlier ones were not all removed."
            ending.returncode = 1
            if keep is not None and isinstance(target, FolderTarget):
                n_removed = target.keep(keep)
        if is_json(options):
            self.say_json(as_json(backup, n_removed))
        else:
            self._say(backup, n_removed)
        if backup.broken:
            raise SystemExit(1)

    def _target(self, place: str) -> Target:
        if place != "-":
            return FolderTarget(Path(place).absolute())
        if sys.stdout.isatty():
            text = "Standard output is a terminal: write it to a file, or pipe it elsewhere."
            raise CommandError(text, returncode=NOTHING_DONE)
        return TarTarget(sys.stdout.buffer, settings.STAGING_DIR)

    def _say(self, backup: Backup, n_removed: int) -> None:
        for row in backup.broken:
            self.say_wrong(f"{row['file']} ({row['what']}): {row['problem']}; the backup lacks it")
        if n_removed:
            self.say(f"older snapshots removed: {n_removed:,}")
        self.say_ended(
            f"{backup.snapshot}: {counted(backup.n_rows, 'row')}, "
            f"{counted(backup.n_files, 'file')} of {backup.n_bytes:,} bytes "
            f"({backup.n_copied:,} of {backup.n_bytes_copied:,} copied): "
            f"{len(backup.broken):,} broken",
            is_broken=bool(backup.broken),
        )


def as_json(backup: Backup, n_removed: int) -> dict[str, Any]:
    names = ("n_rows", "n_files", "n_bytes", "n_copied", "n_bytes_copied", "broken")
    return {
        "snapshot": backup.snapshot,
        "place": backup.place,
        "started_at": backup.started_at.isoformat(),
        "finished_at": backup.finished_at and backup.finished_at.isoformat(),
        **{name: getattr(backup, name) for name in names},
        "n_removed": n_removed,
    }
