from pathlib import Path
from typing import Any

from benchmarks_app.clicks.services import Asked, forget_logs, grading_arguments, receive_logs
from benchmarks_app.management.importing import ImportCommand, refuse_missing
from benchwright.clicks.columns import read_columns
from benchwright.clicks.grading import read_cuts
from benchwright.recipes import clicks as recipe
from benchwright.recipes.arguments import option, unless_told, word


class Command(ImportCommand):
    help = "Grade what people clicked: a log becomes a set of qrels of kind click."
    takes = (
        word("log", "CSV, TSV, JSON lines, Parquet; also .gz, .zst", kind=Path),
        unless_told(
            "--events", kind=Path, help="UBI's file of events, where the log is UBI's queries"
        ),
        option("--name", help="what the set is called; the file's name"),
        recipe.MODEL,
        recipe.LEAST,
        option("--cuts", help="from which value on the next grade begins, such as 0.5,1,2"),
        option(
            "--column", many="*", default=[], metavar="ROLE=NAME", help="where names do not tell"
        ),
        option(
            "--click-action", many="*", default=[], metavar="NAME", help="UBI's actions that count"
        ),
    )

    def run(self, *, log: Path, events: Path | None, **options: Any) -> None:
        logs = [log, events] if events else [log]
        for path in logs:
            refuse_missing(path)
        choices = Asked(
            name=options["name"] or "",
            model=options["model"],
            least=options["least"],
            cuts=read_cuts(options["cuts"]) if options["cuts"] else (),
            columns=read_columns(options["column"]),
            actions=options["click_action"],
        )
        uploads = receive_logs(benchmark=self.benchmark, user=self.actor, logs=logs)
        try:
            self.finished(
                grading_arguments(benchmark=self.benchmark, uploads=uploads, options=choices)
            )
        finally:
            # The file is still where it was: what the site was given of it need not wait there.
            forget_logs(self.benchmark.uploads.filter(pk__in=[upload.pk for upload in uploads]))
