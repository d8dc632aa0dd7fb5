import shutil
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from benchmarks_app.backups.services.restoring import Restored, restore
from benchmarks_app.management.backups import NOTHING_DONE, Progress, ending_clearly
from benchmarks_app.management.declared import FORM, DeclaredCommand, is_json
from benchmarks_app.site_lock import FolderInUseError, SiteLock, at_work
from benchwright.backups.layout import BackupFolder
from benchwright.backups.targets import unpack
from benchwright.recipes.arguments import option, switch, word
from benchwright.texts.counting import counted

# What has to be done by hand where a restore broke off after its last row.
UNFINISHED = (
    "All rows and files of the backup are back, and what follows did not end: run manage.py "
    "migrate, then manage.py verify_store; then start the site."
)


class Command(DeclaredCommand):
    help = (
        "Put a backup into the empty database and the storage of this site, whichever database it "
        "is from. Ends with 1 where files are lacking or something is left to do, with 2 where "
        "nothing was restored."
    )
    requires_system_checks = ()  # `migrate` does them, when there are tables
    takes = (
        word("place", "folder of backups; - is a tar on stdin", metavar="DIR|-"),
        word("snapshot", "the newest by default", many="?", default=""),
        option(
            "--replace",
            metavar="DATABASE",
            help="delete all that is in the database of this name first",
        ),
        switch("--damaged", help="take a backup whose files are not all whole"),
        *FORM,
    )

    def handle(self, *args: Any, place: str, snapshot: str, **options: Any) -> None:
        progress = Progress(self.stderr, is_on=bool(options["verbosity"]))
        disk = f"of {settings.DATA_DIR}, or of the database"
        nothing = "The restore did not end: nothing of the backup is in the database"
        nothing += ", and what was to be replaced may be gone." if options["replace"] else "."
        with (
            ending_clearly(self.stderr, place=disk, nothing=nothing) as ending,
            held(),
            opened(place) as folder,
        ):

            def tell_loaded() -> None:
                ending.text, ending.returncode = UNFINISHED, 1

            restored = restore(
                folder,
                snapshot,
                replaced=options["replace"],
                may_be_damaged=options["damaged"],
                say=progress,
                when_loaded=tell_loaded,
            )
        if is_json(options):
            self.say_json(as_json(restored))
        else:
            self._say(restored)
        if restored.lacking or restored.check.broken:
            raise SystemExit(1)

    def _say(self, restored: Restored) -> None:
        for line in restored.lacking:
            self.say_wrong(f"lacking: {line}")
        for row in restored.check.broken:
            self.say_wrong(f"broken: {row['file']}: {row['problem']}")
        self.say_ended(
            f"{restored.snapshot}: {counted(restored.n_rows, 'row')} of "
            f"{counted(restored.n_tables, 'table')}, {counted(restored.n_files, 'file')} of "
            f"{restored.n_bytes:,} bytes restored; {len(restored.check.broken):,} broken",
            is_broken=bool(restored.lacking or restored.check.broken),
        )


@contextmanager
def held() -> Iterator[None]:
    """Nobody starts this site meanwhile, and it does not run."""
    with ExitStack() as stack:
        try:
            stack.callback(SiteLock("manage.py restore", is_alone=True).release)
            stack.enter_context(at_work(is_alone=True))
        except FolderInUseError as error:
            raise CommandError(str(error), returncode=NOTHING_DONE) from None
        yield


@contextmanager
def opened(place: str) -> Iterator[BackupFolder]:
    """The folder of backups; of a stream one that is there for as long as it is needed."""
    if place != "-":
        yield BackupFolder(Path(place).absolute())
        return
    path = settings.STAGING_DIR / f"unpacked-{uuid.uuid4().hex}"
    try:
        yield unpack(sys.stdin.buffer, path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def as_json(restored: Restored) -> dict[str, Any]:
    return {
        "snapshot": restored.snapshot,
        "n_tables": restored.n_tables,
        "n_rows": restored.n_rows,
        "n_files": restored.n_files,
        "n_bytes": restored.n_bytes,
        "lacking": restored.lacking,
        "broken": restored.check.broken,
    }
