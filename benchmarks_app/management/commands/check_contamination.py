from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.declared import refuse_failed
from benchmarks_app.management.importing import ImportCommand, refuse_missing
from benchmarks_app.models import ContaminationCheck
from benchmarks_app.splits.services import contamination
from benchwright.recipes.arguments import option, switch, word
from benchwright.texts.counting import counted


class Command(ImportCommand):
    help = "Compare a benchmark's queries with a list from outside, or with a sketch of one."
    takes = (
        word("file", "list of queries, or sketch", kind=Path, many="?"),
        option("--name", help="what the list is; by default the file's"),
        option("--salt", help="of a sketch with a salt of its owner's"),
        switch("--show-salt", help="print the salt for `benchwright sketch`"),
        switch("--make-slice", help="make a slice of the clean queries"),
    )

    def run(self, *, file: Path | None, name: str, salt: str, **options: Any) -> None:
        if options["show_salt"]:
            self.say(contamination.salt_of(self.benchmark))
            return
        if file is None:
            raise CommandError("Name the file to check.")
        refuse_missing(file)
        arguments = contamination.check_arguments(
            benchmark=self.benchmark, upload=self.upload(file), name=name, salt=salt
        )
        job = self.job(arguments)
        refuse_failed(job)
        checks = ContaminationCheck.objects.filter(benchmark=self.benchmark)
        check = checks.get(name=job.parameters["name"])
        self._say_check(check)
        if options["make_slice"]:
            row = contamination.make_clean_slice(check=check, user=self.actor)
            self.say_done(f"slice {row.name}")

    def _say_check(self, check: ContaminationCheck) -> None:
        self.say(f"{check.name}: {counted(check.n_outside, 'query')} outside")
        for row in check.result["slices"]:
            counts = ("n_exact", "the same"), ("n_near", "nearly"), ("n_possible", "possibly")
            text = ", ".join(f"{row[key]:,} {words}" for key, words in counts)
            self.say(
                f"{row['name']}: {counted(row['n'], 'query')}, {text}, {row['n_clean']:,} clean"
            )
