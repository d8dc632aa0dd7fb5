from pathlib import Path
from typing import Any

from benchmarks_app.logs.services import importing_logs
from benchmarks_app.logs.services.importing_logs import Reading
from benchmarks_app.management.importing import ImportCommand, refuse_missing
from benchwright.logs.columns import LABELS, LogColumns
from benchwright.logs.masking import KIND_LABELS, checked_regions
from benchwright.recipes import sampling as recipe
from benchwright.recipes.arguments import option, switch, unless_told, word


class Command(ImportCommand):
    help = "Read a query log: mask personal data, count distinct queries, put them into families."
    takes = (
        word("log", "CSV, TSV, JSON lines, Parquet; also .gz, .zst", kind=Path),
        option("--name", help="what the log is called; the file's name"),
        *(option(f"--{role}", help=f"column: {label}") for role, label in LABELS.items()),
        recipe.FLOOR,
        option(
            "--mask", many="*", default=list(KIND_LABELS), metavar="KIND", help="only these kinds"
        ),
        unless_told(
            "--regions",
            metavar="CC,CC",
            help="countries whose telephone numbers and numbers of people are masked, or none; "
            "those of the site (LOG_REGIONS)",
        ),
        switch("--lenient", help="leave unreadable rows out"),
        switch("--keep-raw", help="keep the file on the site"),
    )

    def run(self, *, log: Path, regions: str | None, **options: Any) -> None:
        refuse_missing(log)
        named = {role: options[role] for role in LABELS if options[role]}
        reading = Reading(
            name=options["name"],
            columns=LogColumns.of(named) if named else None,
            kinds=tuple(options["mask"]),
            regions=None if regions is None else checked_regions(regions),
            floor=options["floor"],
            is_lenient=options["lenient"],
            keeps_raw=options["keep_raw"],
        )
        pending = importing_logs.receive_log_path(
            path=log, benchmark=self.benchmark, user=self.actor
        )
        try:
            self.finished(importing_logs.log_arguments(pending=pending, reading=reading))
        finally:
            # The file is still where it was: what the site was given of it need not wait there.
            if self.benchmark.uploads.filter(pending_log=pending.pk).exists():
                importing_logs.discard_pending(pending=pending, user=self.actor)
