"""A log read row by row: what was asked, how often, when, and what was clicked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchwright.errors import Problems
from benchwright.logs.columns import LogColumns
from benchwright.logs.tables import Bad, LogTable
from benchwright.logs.values import CellError, Window, clicks_of, count_of, month_of, window_of

LONGEST_QUERY = 1000
NOTHING: dict[str, int] = {}
KEPT_CELLS = 4096


class LogRow(NamedTuple):
    """One row: the text as it was typed, with single spaces; days as ordinals, 0 if unknown."""

    text: str
    n: int
    first: int
    last: int
    clicks: Mapping[str, int]
    lang: str


@dataclass
class Left:
    """Rows that were left out, by why."""

    empty: int = 0
    uncounted: int = 0
    too_long: int = 0
    unreadable: int = 0

    def as_dict(self) -> dict[str, int]:
        return {name: n for name, n in vars(self).items() if n}


@dataclass
class LogReader:
    """Reads the rows of a log.

    A row that cannot be read is a problem with its line; with `is_lenient` it is left out and
    counted, as rows without a query, with a count of 0, or of a text too long for a query always
    are.
    """

    table: LogTable
    columns: LogColumns
    problems: Problems
    is_lenient: bool = False
    left: Left = field(default_factory=Left)
    n_rows: int = 0
    _windows: dict[Any, Window] = field(default_factory=dict)

    def rows(self) -> Iterator[LogRow]:
        """Yield what can be taken.

        Raises
        ------
        ArchiveError
            If the file ends too early or is damaged.
        FileProblemsError
            When the limit of problems is reached.
        """
        for line, row in self.table.rows():
            self.n_rows += 1
            log_row = self._taken(line, row)
            if log_row is not None:
                yield log_row

    def _taken(self, line: int, row: Mapping[str, Any] | Bad) -> LogRow | None:
        if isinstance(row, Bad):
            self._bad(line, row.why)
            return None
        text = self._query(row)
        if text is None:
            return None
        try:
            return self._row(text, row)
        except CellError as error:
            self._bad(line, str(error))
            return None

    def _bad(self, line: int, why: str) -> None:
        self.left.unreadable += 1
        if not self.is_lenient:
            self.problems.add(self.table.file, line, why)

    def _query(self, row: Mapping[str, Any]) -> str | None:
        value = row.get(self.columns.query)
        text = " ".join(str(value).split()) if value is not None else ""
        if not text:
            self.left.empty += 1
            return None
        if len(text) > LONGEST_QUERY:
            self.left.too_long += 1
            return None
        return text

    def _row(self, text: str, row: Mapping[str, Any]) -> LogRow | None:
        columns = self.columns
        count = count_of(row.get(columns.count)) if columns.count else 1
        if not count:
            self.left.uncounted += 1
            return None
        first, last = self._window(row)
        clicked = row.get(columns.clicks) if columns.clicks else None
        lang = row.get(columns.lang) if columns.lang else None
        return LogRow(
            text,
            count,
            first,
            last,
            clicks_of(clicked) if clicked else NOTHING,
            str(lang).strip().lower()[:35] if lang else "",
        )

    def _window(self, row: Mapping[str, Any]) -> tuple[int, int]:
        """The days of a row; few rows have a day that no other has."""
        columns = self.columns
        if not (columns.date or columns.month):
            return 0, 0
        cells = (row.get(columns.date or columns.month), row.get(columns.year))
        if cells[0] is None or cells[0] == "":
            return 0, 0
        if any(isinstance(cell, list | dict) for cell in cells):
            why = f"the day is {cells[0]!r:.40}; expected one value, such as 2024-05-31"
            raise CellError(why)
        window = self._windows.get(cells)
        if window is None:
            if len(self._windows) > KEPT_CELLS:
                self._windows.clear()
            window = (
                window_of(cells[0])
                if columns.date or not columns.year
                else month_of(cells[1], cells[0])
            )
            self._windows[cells] = window
        return window
