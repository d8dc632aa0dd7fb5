from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.labels.services.importing_labels import labels_arguments
from annotation.models import Pool
from benchmarks_app.management.declared import refuse_failed
from benchmarks_app.management.importing import ImportCommand
from benchmarks_app.models import Benchmark
from benchwright.qrels.raters import read_accounts
from benchwright.recipes.arguments import option, switch, unless_told, word


class Command(ImportCommand):
    help = "Enter labels given elsewhere: TREC qrels, or CSV or TSV with perhaps annotators."
    takes = (
        word("pool", "name of the pool they are for, if for one", many="?"),
        word("path", kind=Path),
        option("--rater", help="who gave them, where the file is silent"),
        option("--source", help="where they are from"),
        option(
            "--account",
            is_repeated=True,
            default=[],
            metavar="RATER=USERNAME",
            help="whose account a rater of the file is; 'RATER=' for none. By default the member "
            "of the rater's name, if there is one. May be repeated",
        ),
        unless_told(
            "--machine",
            is_repeated=True,
            metavar="RATER",
            help="a rater that is a machine: its labels are kept apart. By default those whose "
            "name looks like a model's. May be repeated",
        ),
        switch("--no-machine", help="no rater is a machine, whatever its name"),
        option("--grade-map", help="such as '1=4, 2=3, -1=0'"),
    )

    def run(self, *, pool: str | None, path: Path, **options: Any) -> None:
        arguments = {key: options[key] for key in ("rater", "source", "grade_map")}
        if options["machine"] and options["no_machine"]:
            raise CommandError("Give --machine or --no-machine, not both.")
        arguments["machines"] = [] if options["no_machine"] else options["machine"]
        arguments["accounts"] = read_accounts(options["account"])
        try:
            upload = self.upload(path)
        except OSError as error:
            raise CommandError(str(error)) from error
        job = self.job(
            labels_arguments(upload=upload, pool=_pool(self.benchmark, pool), **arguments)
        )
        refuse_failed(job)
        self.say_made(job, "entered ")
        for note in job.result["notes"]:
            self.say(note)


def _pool(benchmark: Benchmark, name: str | None) -> Pool | None:
    if name is None:
        return None
    row = Pool.objects.built().filter(benchmark=benchmark, name=name).first()
    if row is None:
        raise CommandError(f"No pool '{name}' in {benchmark.slug}.")
    return row
