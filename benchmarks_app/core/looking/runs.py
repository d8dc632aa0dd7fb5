"""A run in a file from outside, checked and written as Parquet."""

from collections.abc import Callable

from benchmarks_app.core.apart import reader
from benchmarks_app.core.detection import FileKind, Part
from benchmarks_app.core.loading import rows
from benchmarks_app.core.looking.places import Place, input_at
from benchmarks_app.core.problems import ToldProblems
from benchmarks_app.core.run_intake import Intake, Taken, Terms
from benchmarks_app.core.run_metadata import read_run_metadata


@reader
def take_run(
    place: Place, part: Part, terms: Terms, *, progress: Callable[[int, int | None], None]
) -> Taken:
    """Write a run, of TREC's format or a table, as Parquet into the folder of `terms`.

    Raises
    ------
    FileProblemsError
        With every line that cannot be read, as soon as they are too many.
    RunTooDeepError
        As soon as a query has more documents than are taken.
    """
    given, problems = input_at(place), ToldProblems()
    terms.folder.mkdir(parents=True, exist_ok=True)
    intake = Intake(terms, problems, progress)
    if part.kind is not FileKind.RUN:
        read = rows.run_rows(part, given, folder=terms.folder, problems=problems)
        return Taken(intake.of_rows(read), intake.seen_extra, problems.news())
    with given.opened() as stream:
        metadata = read_run_metadata(stream, file=given.shown, problems=problems)
    with given.opened() as stream:
        summary = intake.of_stream(stream)
    return Taken(summary, intake.seen_extra, problems.news(), metadata)
