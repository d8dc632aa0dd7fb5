import time
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.backups.services.store_checking import (
    leave_to_sweeper,
    unneeded_files,
    verify_store,
)
from benchmarks_app.management.declared import FORM, DeclaredCommand, is_json
from benchmarks_app.models import Job, StoreCheck
from benchwright.recipes.arguments import switch
from benchwright.texts.counting import counted

TELL_EVERY_SECONDS = 1.0


class Command(DeclaredCommand):
    help = "Read every stored file against its recorded digest; ends with 1 where one is broken."
    takes = (
        switch(
            "--sweep-unneeded",
            help="have the sweeper delete files that nothing in the database names",
        ),
        *FORM,
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["sweep_unneeded"] and (n_active := Job.objects.active().count()):
            raise CommandError(
                f"{counted(n_active, 'job')} waiting or under way, which may be about to name a "
                "file. Sweep when there is none."
            )
        self._told_at = time.monotonic()
        check = verify_store(self._tell if options["verbosity"] else lambda *counts: None)
        unneeded = unneeded_files()
        if is_json(options):
            self.say_json(as_json(check, unneeded))
        else:
            self._say(check, unneeded)
        if options["sweep_unneeded"]:
            leave_to_sweeper(unneeded)
        if check.broken:
            raise SystemExit(1)

    def _tell(self, n: int, n_all: int, n_bytes: int) -> None:
        now = time.monotonic()
        if n == n_all or now - self._told_at >= TELL_EVERY_SECONDS:
            self._told_at = now
            self.note(f"{n:,} of {counted(n_all, 'file')}, {n_bytes / 1e6:,.1f} MB")

    def _say(self, check: StoreCheck, unneeded: dict[str, int]) -> None:
        for row in check.broken:
            self.say_wrong(f"{row['file']} ({row['what']}): {row['problem']}")
            self.say(
                f"  whole on {row['whole_at'] or '?'}, written to on {row['changed_at'] or '?'}"
            )
            for dependent in row["dependents"]:
                self.say(f"  needed by {dependent}")
        if check.n_unrecorded:
            self.say(f"without a recorded digest: {counted(check.n_unrecorded, 'file')}")
        if unneeded:
            n_bytes = sum(unneeded.values())
            self.say(
                f"needed by nothing for a day or longer: {counted(len(unneeded), 'file')}, "
                f"{n_bytes:,} bytes (--sweep-unneeded deletes them)"
            )
        self.say_ended(
            f"{counted(check.n_files, 'file')}, {check.n_bytes:,} bytes: "
            f"{len(check.broken):,} broken",
            is_broken=bool(check.broken),
        )


def as_json(check: StoreCheck, unneeded: dict[str, int]) -> dict[str, Any]:
    return {
        "started_at": check.started_at.isoformat(),
        "finished_at": check.finished_at and check.finished_at.isoformat(),
        "n_files": check.n_files,
        "n_bytes": check.n_bytes,
        "n_unrecorded": check.n_unrecorded,
        "broken": check.broken,
        "unneeded": [{"file": name, "n_bytes": size} for name, size in unneeded.items()],
    }
