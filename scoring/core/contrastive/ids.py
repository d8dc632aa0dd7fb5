"""Which id each pair has: from a file of its own, or as the files of embeddings bring them."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks_app.core.apart import reader
from benchmarks_app.core.formats.sources import open_lines
from benchmarks_app.core.formats.trec import BYTE_ORDER_MARK
from benchmarks_app.core.problems import Problems
from scoring.core.contrastive.errors import PairIdsError
from scoring.core.contrastive.files import StoredMatrix


def read_ids(path: Path, *, name: str = "") -> tuple[str, ...]:
    """One id a line, in the order of the rows.

    Raises
    ------
    FileProblemsError
        Naming lines that are empty, or hold an id that an earlier line has.
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated.
    """
    file = name or path.name
    problems = Problems()
    lines: dict[str, int] = {}
    for number, line in enumerate(open_lines(path, file=file), start=1):
        text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        one = text.strip(b"\r\n").decode("utf-8", "backslashreplace")
        if not one.strip():
            problems.add(file, number, "no id; expected one. Every row needs a line of its own.")
        elif (first := lines.setdefault(one, number)) != number:
            problems.add(file, number, f"'{one}' was in line {first} already; expected it once.")
    problems.raise_found()
    return tuple(lines)


@reader
def sent_ids(path: Path, name: str) -> Iterator[str]:
    """As `read_ids`, of a file from outside."""
    yield from read_ids(path, name=name)


def ids_of_pair(
    first: StoredMatrix, second: StoredMatrix, given: tuple[str, ...] | None = None
) -> tuple[str, ...] | None:
    """The given ids, else those that the files bring; None where there are none.

    Raises
    ------
    PairIdsError
        If both files bring ids and a row has two.
    """
    if given is not None:
        return given
    if first.ids is None or second.ids is None:
        return second.ids if first.ids is None else first.ids
    for row, (one, other) in enumerate(zip(first.ids, second.ids, strict=False)):
        if one != other:
            reason = (
                f"row {row} is '{one}' there and '{other}' in {second.file}; expected the same ids "
                "in the same order. Sort both files by id."
            )
            raise PairIdsError(name=first.file, reason=reason)
    return first.ids
