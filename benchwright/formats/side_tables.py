"""Tables of two columns beside a benchmark: slices, families and weights of queries, parents of
passages.

A tab separates the columns; blank lines, lines beginning with `#` and one byte order mark are
passed over, and so is a first line that begins with the first column's name. Queries, passages and
documents stay the bytes they are; slices and families are text.
"""

from collections.abc import Container, Iterable, Iterator
from math import inf
from pathlib import Path

from benchwright.errors import Problems
from benchwright.files.encodings import as_shown
from benchwright.files.sources import open_lines
from benchwright.formats.mapping import plain_name
from benchwright.formats.numbers import real
from benchwright.formats.trec import BYTE_ORDER_MARK
from benchwright.sandbox import reader

SLICE_COLUMNS = ("query-id", "slice")
FAMILY_COLUMNS = ("query-id", "family")
WEIGHT_COLUMNS = ("query-id", "weight")
PARENT_COLUMNS = ("passage-id", "document-id")


def read_slices(path: Path, *, problems: Problems | None = None) -> dict[str, list[bytes]]:
    """The queries of each slice, both in the order of the file; a query may be in several.

    Raises
    ------
    FileProblemsError
        If lines are not two columns.
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated.
    """
    return slices_in(open_lines(path), file=path.name, problems=problems or Problems())


def slices_in(lines: Iterable[bytes], *, file: str, problems: Problems) -> dict[str, list[bytes]]:
    """As `read_slices`, of lines."""
    slices: dict[str, dict[bytes, int]] = {}
    for line, qid, name in two_columns(lines, SLICE_COLUMNS, file=file, problems=problems):
        members = slices.setdefault(as_shown(name), {})
        if members.setdefault(qid, line) != line:
            fact = f"query '{as_shown(qid)}' was put into slice '{as_shown(name)}'"
            text = f"{fact} in line {members[qid]} already. Drop one of the two."
            problems.warn(file, line, text)
    problems.raise_found()
    return {name: list(members) for name, members in slices.items()}


@reader
def slices_at(path: Path) -> dict[str, list[bytes]]:
    """As `read_slices`, of a file from outside."""
    return read_slices(path)


def read_families(path: Path, *, problems: Problems | None = None) -> dict[bytes, str]:
    """The family of each query; raises as `read_slices` does, and for a query in two families."""
    families = _one_each(path, FAMILY_COLUMNS, "query", "family", problems or Problems())
    return {qid: as_shown(family) for qid, family in families.items()}


def read_weights(path: Path, *, problems: Problems | None = None) -> dict[bytes, float]:
    """The weight of each query, above 0; raises as `read_families` does."""
    problems = problems or Problems()
    cells = _one_each(path, WEIGHT_COLUMNS, "query", "weight", problems)
    weights = {qid: real(cell) or 0.0 for qid, cell in cells.items()}
    for qid, weight in weights.items():
        if not 0 < weight < inf:
            fact = f"the weight of query '{as_shown(qid)}' is '{as_shown(cells[qid])}'"
            problems.add(path.name, 0, f"{fact}; expected a number above 0. Correct it.")
    problems.raise_found()
    return weights


def read_parents(path: Path, *, problems: Problems | None = None) -> dict[bytes, bytes]:
    """The document of each passage, in the order of the file, which is that within a document.

    Raises as `read_slices` does, and for a passage of two documents.
    """
    return _one_each(path, PARENT_COLUMNS, "passage", "document", problems or Problems())


def warn_of_unknown(
    path: Path, named: Iterable[bytes], known: Container[bytes], *, problems: Problems
) -> None:
    """Warn of queries of a table that the qrels (`known`) lack."""
    if unknown := [as_shown(qid) for qid in dict.fromkeys(named) if qid not in known]:
        examples = ", ".join(f"'{qid}'" for qid in unknown[:3]) + ", …" * (len(unknown) > 3)
        is_one = len(unknown) == 1
        subject = "1 query is" if is_one else f"{len(unknown)} queries are"
        passed = f"not in the qrels and {'was' if is_one else 'were'} passed over: {examples}"
        problems.warn(path.name, 0, f"{subject} {passed}")


def _one_each(
    path: Path, columns: tuple[str, str], what: str, whose: str, problems: Problems
) -> dict[bytes, bytes]:
    """First column to second; a second row that says otherwise is a problem."""
    first_rows: dict[bytes, tuple[int, bytes]] = {}
    lines = open_lines(path)
    for line, name, value in two_columns(lines, columns, file=path.name, problems=problems):
        first, first_value = first_rows.setdefault(name, (line, value))
        if first == line:
            continue
        fact = f"{what} '{as_shown(name)}' was in line {first} already"
        if first_value == value:
            problems.warn(path.name, line, f"{fact}, with the same {whose}. Drop one of the two.")
        else:
            both = f"with {whose} '{as_shown(first_value)}' and here '{as_shown(value)}'"
            text = f"{fact}, {both}; expected one {whose}. Drop one of the two."
            problems.add(path.name, line, text)
    problems.raise_found()
    return {name: value for name, (_, value) in first_rows.items()}


def two_columns(
    lines: Iterable[bytes], columns: tuple[str, str], *, file: str, problems: Problems
) -> Iterator[tuple[int, bytes, bytes]]:
    """Line number and both cells of every row that has two."""
    for number, line in enumerate(lines, start=1):
        text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        cells = [cell.strip(b" \r\n") for cell in text.split(b"\t")]
        if not any(cells) or text.startswith(b"#"):
            continue
        if number == 1 and plain_name(cells[0].decode(errors="replace")) == plain_name(columns[0]):
            continue
        if len(cells) == 2 and all(cells):
            yield number, cells[0], cells[1]
        else:
            problems.add(file, number, _columns_problem(cells, columns))


def _columns_problem(cells: list[bytes], columns: tuple[str, str]) -> str:
    filled = sum(map(bool, cells))
    number = f"{filled} column{'' if filled == 1 else 's'}"
    return (
        f"{number}; expected 2 ({columns[0]}, {columns[1]}) separated by a tab. Correct the line."
    )
