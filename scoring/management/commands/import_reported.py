"""`manage.py import_reported SLUG FILE… --user NAME`: values from result files of MTEB."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from benchmarks_app.management.declared import BENCHMARK, BenchmarkCommand
from benchwright.errors import MtebFormatError
from benchwright.recipes.arguments import option, unless_told, word
from benchwright.texts.counting import counted
from scoring.boards.services import reported
from scoring.management.reporting import release_of

# MTEB writes this beside the results; it holds no value.
NO_RESULTS = "model_meta.json"


class Command(BenchmarkCommand):
    help = "Take over values of MTEB result files; they are shown as reported, and never ranked."
    first = (BENCHMARK,)
    takes = (
        word("files", "result files, JSON, or folders of them", many="+"),
        unless_told("--user", help="who reports them; by default an owner of the benchmark"),
        option("--system", help="whose they are, if the file has no model"),
        option("--task", help="which task, if the file has several"),
        option("--source", help="where they are from; the file's name"),
        unless_told("--release", help="of which release they are, if that is known"),
    )

    def run(self, *, files: list[str], release: str | None, **options: Any) -> None:
        fields = {name: options[name] for name in ("system", "task", "source")}
        fields |= {"release": release_of(self.benchmark, release) if release else None}
        for path in map(Path, files):
            if path.is_dir():
                self._take_over_folder(path, fields)
            elif path.name != NO_RESULTS:
                self._take_over(path, fields)

    def _take_over_folder(self, folder: Path, fields: dict[str, Any]) -> None:
        """All result files of a folder, as MTEB writes it; those of other tasks are counted."""
        paths = [path for path in sorted(folder.rglob("*.json")) if path.name != NO_RESULTS]
        if len(paths) > 1 and not fields["task"]:
            msg = f"{folder} holds {len(paths)} result files. Name the task with --task."
            raise CommandError(msg)
        n_others = n_taken = 0
        for path in paths:
            try:
                self._take_over(path, fields)
                n_taken += 1
            except reported.TaskChoiceError:
                n_others += 1
            except (MtebFormatError, reported.ReportedFileError) as error:
                self.note(f"left out: {error}")
        if not n_taken:
            task = f" of the task '{fields['task']}'" if fields["task"] else ""
            msg = f"{folder} holds no result file{task} ({len(paths)} JSON files). Name the task."
            raise CommandError(msg)
        if n_others:
            self.say(f"left out, of other tasks: {counted(n_others, 'file')}")

    def _take_over(self, path: Path, fields: dict[str, Any]) -> None:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}.") from error
        imported = reported.import_mteb(
            benchmark=self.benchmark, user=self.actor, content=content, file=path.name, **fields
        )
        systems = ", ".join(imported.systems)
        self.say(
            f"{path.name}: {imported.n_new} values of {systems} on {imported.task}, "
            f"{imported.n_known} were there already"
        )
