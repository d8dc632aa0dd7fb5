"""Tables on a terminal, in a pipe, and as tab-separated values.

rich is imported only where standard output is a terminal; elsewhere columns are aligned by spaces.
"""

import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, islice
from math import isnan
from typing import NamedTuple

from benchwright.texts.counting import percent_beside
from benchwright.texts.markdown import table_line, table_lines

UNDEFINED = "-"
LINES_AT_ONCE = 2_000


class Table(NamedTuple):
    """Cells as text, row by row; columns but those in `left` are aligned at their right end.

    `best` holds (row, column) of the cells that stand out on a terminal.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    left: Collection[int] = (0,)
    best: Collection[tuple[int, int]] = frozenset()


def say(text: str = "") -> None:
    """Print a text and a line's end; `start` has the output escape what it does not take."""
    sys.stdout.write(f"{text}\n")


def show_table(table: Table) -> None:
    """Print a table, with rules and bold cells where a person sees it."""
    if not sys.stdout.isatty():
        say(plain(table))
    elif not _fits_terminal(table):
        say(records(table))
    else:
        try:
            _show_rich(table)
        except ModuleNotFoundError:  # rich comes with the extra `tools`
            say(plain(table))


def _fits_terminal(table: Table) -> bool:
    from shutil import get_terminal_size

    # rich puts a space at both sides of a cell, and one between two cells and at the edges.
    needed = sum(_widths(table)) + 3 * len(table.columns) + 1
    return needed <= get_terminal_size().columns


def _widths(table: Table) -> list[int]:
    lines = [table.columns, *table.rows]
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def plain(table: Table) -> str:
    """The table with aligned columns, two spaces apart, its title above.

    Examples
    --------
    >>> print(plain(Table(["run", "AP"], [["bm25", "0.3"], ["x", "0.25"]])))
    run     AP
    bm25   0.3
    x     0.25
    """
    lines = [table.columns, *table.rows]
    widths = _widths(table)
    aligned = [
        "  ".join(
            cell.ljust(width) if number in table.left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([table.title] * bool(table.title) + aligned)


def records(table: Table) -> str:
    """The table with a line for each cell, for terminals that are too narrow for its rows.

    Examples
    --------
    >>> print(records(Table(["run", "AP", "RR"], [["bm25", "0.3", "0.5"]])))
    bm25
      AP  0.3
      RR  0.5
    """
    width = max(map(len, table.columns[1:]))
    lines = [table.title] * bool(table.title)
    for name, *cells in table.rows:
        lines.append(name)
        pairs = zip(table.columns[1:], cells, strict=True)
        lines += [f"  {column:<{width}}  {cell}".rstrip() for column, cell in pairs]
    return "\n".join(lines)


def print_tab_separated(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows as lines of tab-separated cells, the columns' names first."""
    print_lines("\t".join(cells) for cells in chain([columns], rows))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as they come, some at a time."""
    waiting = iter(lines)
    while block := list(islice(waiting, LINES_AT_ONCE)):
        say("\n".join(block))


def markdown(table: Table) -> str:
    """The table in the Markdown of GitHub and GitLab; the best cells are bold."""
    rule = (":--" if number in table.left else "--:" for number in range(len(table.columns)))
    rows = [
        [
            f"**{cell}**" if (row, column) in table.best else cell.replace("|", "\\|")
            for column, cell in enumerate(cells)
        ]
        for row, cells in enumerate(table.rows)
    ]
    lines = table_lines(table.columns, rows, rule=table_line(rule))
    return "\n".join([f"### {table.title}\n"] * bool(table.title) + [*lines])


def number(value: float, decimals: int = 4) -> str:
    """A value as tables show it: rounded, and a dash where it is undefined."""
    return UNDEFINED if isnan(value) else f"{value:.{decimals}f}"


def between(low: float, high: float) -> str:
    """An interval as tables show it; nothing where there is none."""
    return "" if isnan(low) or isnan(high) else f"{low:.4f} to {high:.4f}"


def share(value: float, *limits: float) -> str:
    """A share in per cent; never 0 or 100 % where there is something on the other side.

    It stands on its side of the limits beside it, which are shares, too.
    """
    if isnan(value):
        return UNDEFINED
    percent = percent_beside(value, *limits, decimals=0)
    if (percent == "100" and value < 1) or (percent == "0" and value > 0):
        percent = f"{min(max(100 * value, 0.1), 99.9):.1f}"
    return f"{percent} %"


def exact(value: float) -> str:
    """A value with every digit it has; nothing where it is undefined."""
    return "" if isnan(value) else repr(value)


def _show_rich(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    rich_table = RichTable(title=table.title or None, title_justify="left", box=box.SIMPLE_HEAD)
    for place, name in enumerate(table.columns):
        rich_table.add_column(
            name,
            justify="left" if place in table.left else "right",
            no_wrap=place not in table.left,
        )
    for row, cells in enumerate(table.rows):
        rich_table.add_row(
            *(
                Text(cell, style="bold green" if (row, column) in table.best else "")
                for column, cell in enumerate(cells)
            )
        )
    Console().print(rich_table)
