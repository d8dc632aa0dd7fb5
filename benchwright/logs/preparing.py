"""From a log's file to its distinct queries in families: what the site and the command both do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.errors import Problems
from benchwright.logs.columns import LogColumns
from benchwright.logs.distinct import Counted, Options, write_distinct
from benchwright.logs.errors import LogEmptyError
from benchwright.logs.families import Grouped, write_with_families
from benchwright.logs.reading import Left, LogReader
from benchwright.logs.tables import LogTable, open_table
from benchwright.sandbox import reader

LONGEST_CELL = 1000
Tell = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Prepared:
    """A log that was read: its queries (`log`) and why they are families (`links`), as Parquet.

    Of its `n_rows` rows `left` were left out.
    """

    log: Path
    links: Path
    columns: LogColumns
    n_rows: int
    left: Left
    counted: Counted
    grouped: Grouped


def prepared(
    table: LogTable,
    columns: LogColumns,
    folder: Path,
    *,
    options: Options,
    is_lenient: bool = False,
    tell: Tell = lambda done, total, what: None,
) -> Prepared:
    """Read, mask, count and group; `folder` takes the results, and parts that can go afterwards.

    Raises
    ------
    FileProblemsError
        If rows cannot be read and `is_lenient` does not leave them out.
    LogEmptyError
        If no query is left.
    ArchiveError
        If the file is damaged.
    """
    reader = LogReader(table, columns, Problems(), is_lenient=is_lenient)
    distinct = folder / "distinct.parquet"
    counted = write_distinct(
        reader.rows(),
        distinct,
        folder,
        options=options,
        tell=lambda n, what: tell(n, 0, f"{n:,} {what}"),
    )
    reader.problems.raise_found()
    _refuse_empty(reader, counted)
    log, links = folder / "log.parquet", folder / "links.parquet"
    grouped = write_with_families(distinct, log, links, tell=tell)
    return Prepared(log, links, columns, reader.n_rows, reader.left, counted, grouped)


@reader
def table_at(path: Path, name: str, n_rows: int) -> tuple[LogTable, list[Mapping[str, Any]]]:
    """A log as a table and its first rows, cells as text; raises as `open_table` does."""
    table = open_table(path, file=name)
    return table, [
        {column: _shown(cell) for column, cell in row.items()} for row in table.head(n_rows)
    ]


def _shown(cell: Any) -> int | float | str | None:
    # Days of a zone, binary and the like would have to be known where they are looked at.
    return cell if isinstance(cell, int | float | None) else str(cell)[:LONGEST_CELL]


@reader
def prepared_apart(
    table: LogTable,
    columns: LogColumns,
    folder: Path,
    options: Options,
    *,
    is_lenient: bool,
    progress: Tell,
) -> Prepared:
    """As `prepared`, of a file from outside."""
    return prepared(table, columns, folder, options=options, is_lenient=is_lenient, tell=progress)


def _refuse_empty(reader: LogReader, counted: Counted) -> None:
    if counted.n_distinct:
        return
    if counted.n_below_floor:
        why = f"all {counted.n_below_floor:,} were asked less often than the floor"
        advice = "Lower the floor, or take a log of a longer time."
    elif counted.n_only_personal:
        why, advice = "all are personal data and nothing else", "Mask fewer kinds of it."
    else:
        why = f"none of its {reader.n_rows:,} rows has one"
        advice = "Name another column for the queries."
    raise LogEmptyError(file=reader.table.file, why=why, advice=advice)
