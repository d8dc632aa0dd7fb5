"""What the commands that import share: what they are told of corpora and grades, and how."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.services.importing import LEAVE_OUT as WAYS_TO_LEAVE_OUT
from benchmarks_app.importing.services.importing import import_arguments
from benchmarks_app.management.declared import BenchmarkCommand
from benchmarks_app.models import Upload
from benchwright.corpora.units import Parents
from benchwright.errors import BenchmarkError
from benchwright.formats.mapping import EVERY_ROW
from benchwright.formats.unlisted import UNLISTED
from benchwright.recipes.arguments import option, switch, unless_told

CORPUS = (
    unless_told(
        "--max-docs", metavar="N", help="keep N documents: all judged or pooled ones, others drawn"
    ),
    option("--seed", kind=int, default=0, help="of the draw; default 0"),
    switch("--take", help="take a new snapshot at once, without looking at it"),
    unless_told("--snapshot-date", metavar="YYYY-MM-DD", help="as of when the corpus is"),
    option(
        "--parents",
        choices=[parent.value for parent in Parents],
        default=Parents.STATED.value,
        help="where passages say their document: stated in a column, or ids such as X#Y",
    ),
)
GRADES = (
    option("--grade-map", help="such as 1=4,2=3,3=2,4=1,-1=0; of words, such as E=3,S=2,C=1,I=0"),
    switch(
        "--every-row-relevant",
        help="a table of qrels has no grades: each of its rows is a relevant document, grade 1",
    ),
    option(
        "--unlisted",
        choices=UNLISTED,
        help="what documents are that the qrels do not list: not-relevant where the judgments are "
        "complete or list the relevant documents alone; otherwise unknown, unless an export of "
        "ours says so itself",
    ),
    switch(
        "--machine",
        default=None,
        has_no=True,
        help="whether a machine gave the grades; by default, whether the set has a model's name",
    ),
)
LEAVE_OUT = option(
    "--leave-out",
    choices=[way for way in WAYS_TO_LEAVE_OUT if way],
    help="leave out what cannot be read, named and counted: bad records, or files with any",
)


def corpus_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Of a command's options those of CORPUS, as `corpus_options` takes them."""
    return {parameter.name: options[parameter.name] for parameter in CORPUS}


def grades_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Of a command's options those of GRADES, as `import_arguments` takes them."""
    arguments = {name: options[name] for name in ("grade_map", "unlisted", "machine")}
    return {**arguments, "mapping": {"grade": EVERY_ROW} if options["every_row_relevant"] else {}}


def refuse_missing(path: Path) -> None:
    if not path.exists():
        raise CommandError(f"{path}: no such file.")


class ImportCommand(BenchmarkCommand):
    """A command that brings files into a benchmark."""

    def upload(self, path: Path) -> Upload:
        return uploading.receive_path(benchmark=self.benchmark, owner=self.actor, path=path)

    def bring(self, path: Path, **options: Any) -> None:
        """Import one file in this process."""
        refuse_missing(path)
        self.finished(import_arguments(upload=self.upload(path), **options))

    def import_each(
        self, imports: Sequence[tuple[Path, Callable[[], Any]]], leave_out: str
    ) -> None:
        """Import files in turn; of several, `--leave-out files` leaves out those that cannot be."""
        n_left_out = 0
        for path, bring in imports:
            try:
                bring()
            except (CommandError, BenchmarkError) as error:
                if leave_out != "files" or len(imports) == 1:
                    raise
                self.note(f"file left out: {path}: {error}")
                n_left_out += 1
        if n_left_out == len(imports):
            raise CommandError("Nothing was imported: no file is left.")
