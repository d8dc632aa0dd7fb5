"""What the commands share: find the benchmark and its keeper, import, print what was made."""

import shutil
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.services.importing import LEAVE_OUT, import_arguments
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, QrelSet, Role, User
from benchwright.errors import BenchmarkError
from benchwright.formats.mapping import EVERY_ROW
from benchwright.formats.unlisted import UNLISTED


def add_benchmark_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("slug", help="short name of the benchmark")
    parser.add_argument("--user", help="who does it; by default an owner of the benchmark")


def add_grades_arguments(parser: ArgumentParser) -> None:
    """Add what every command that imports qrels is told of them; see `grades_arguments`."""
    parser.add_argument("--grade-map", default="", help="such as 1=4,2=3,3=2,4=1,-1=0")
    parser.add_argument(
        "--every-row-relevant",
        action="store_true",
        help="a table of qrels has no grades: each of its rows is a relevant document, grade 1",
    )
    parser.add_argument(
        "--unlisted",
        choices=UNLISTED,
        default="",
        help="what documents are that the qrels do not list: not-relevant where the judgments are "
        "complete or list the relevant documents alone; otherwise unknown, unless an export of "
        "ours says so itself",
    )
    parser.add_argument(
        "--machine",
        action=BooleanOptionalAction,
        help="whether a machine gave the grades; by default, whether the set has a model's name",
    )


def grades_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Of a command's options those of `add_grades_arguments`, as `import_arguments` takes them."""
    said = {name: options[name] for name in ("grade_map", "unlisted", "machine")}
    return {**said, "mapping": {"grade": EVERY_ROW} if options["every_row_relevant"] else {}}


def add_leave_out_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--leave-out",
        choices=[one for one in LEAVE_OUT if one],
        default="",
        help="leave out what cannot be read, named and counted: bad records, or files with any",
    )


def benchmark_of(slug: str) -> Benchmark:
    benchmark = Benchmark.objects.select_related("corpus").filter(slug=slug).first()
    if benchmark is None:
        known = ", ".join(Benchmark.objects.values_list("slug", flat=True)[:10]) or "none yet"
        raise CommandError(f"No benchmark '{slug}'. There are: {known}.")
    return benchmark


def qrels_of(benchmark: Benchmark, name: str) -> QrelSet:
    """The ready set of this name, or a refusal that says which there are."""
    ready = QrelSet.objects.ready().filter(benchmark=benchmark)
    found = ready.filter(name=name).first()
    if found is None:
        known = ", ".join(ready.values_list("name", flat=True)[:10]) or "none"
        text = f"No qrels '{name}' in '{benchmark.slug}'. There are: {known}."
        raise CommandError(text)
    return found


def person_named(username: str) -> User:
    """The account of that name."""
    person = User.objects.filter(username=username).first()
    if person is None:
        raise CommandError(f"No user '{username}'.")
    return person


def actor_of(benchmark: Benchmark, username: str | None) -> User:
    if username:
        people = User.objects.filter(username=username)
    else:
        people = User.objects.filter(
            memberships__benchmark=benchmark, memberships__role=Role.OWNER
        ).order_by("pk")
    actor = people.first()
    if actor is None:
        raise CommandError(f"No user '{username}'." if username else "The benchmark has no owner.")
    return actor


def finished(command: BaseCommand, job: Job) -> Job:
    """Print how a job ended; a failed one ends the command with its problems."""
    if job.state == Job.State.FAILED:
        lines = [f"{p['file']}:{p['line']}: {p['text']}" for p in job.problems]
        raise CommandError("\n".join([job.error, *lines]))
    for note in job.result.get("notes", []):
        command.stderr.write(f"note: {note}")
    for made in job.result.get("made", []):
        command.stdout.write(command.style.SUCCESS(f"imported {made}"))
    return job


def import_path(
    command: BaseCommand, benchmark: Benchmark, actor: User, path: Path, **options: Any
) -> Job:
    """Import one file in this process, with its progress on a terminal."""
    if not path.exists():
        raise CommandError(f"{path}: no such file.")
    try:
        upload = uploading.receive_path(benchmark=benchmark, owner=actor, path=path)
        arguments = import_arguments(upload=upload, **options)
    except BenchmarkError as error:
        raise CommandError(str(error)) from error
    job = jobs.run_here(
        benchmark=benchmark, user=actor, on_progress=progress_printer(command), **arguments
    )
    return finished(command, job)


def import_each(
    command: BaseCommand, imports: Sequence[tuple[Path, Callable[[], Any]]], leave_out: str
) -> None:
    """Import files in turn; of several, `--leave-out files` leaves out those that cannot be."""
    n_left_out = 0
    for path, run in imports:
        try:
            run()
        except CommandError as error:
            if leave_out != "files" or len(imports) == 1:
                raise
            command.stderr.write(f"file left out: {path}: {error}")
            n_left_out += 1
    if n_left_out == len(imports):
        raise CommandError("Nothing was imported: no file is left.")


@contextmanager
def packed(path: Path) -> Iterator[Path]:
    """A file as it is; a folder as one zip: it is kept byte for byte, like any other upload."""
    if not path.is_dir():
        yield path
        return
    with TemporaryDirectory() as folder:
        yield Path(shutil.make_archive(str(Path(folder) / path.name), "zip", path))


def progress_printer(command: BaseCommand) -> Any:
    """A progress callback that rewrites one line on a terminal, and is silent elsewhere."""

    def tell(done: int, total: int, message: str) -> None:
        share = f"{100 * done // total:3d} % " if total else ""
        command.stderr.write(f"\r{share}{message:<60}", ending="")
        command.stderr.flush()

    return tell if command.stderr.isatty() else None
