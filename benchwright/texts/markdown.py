"""Tables in Markdown, of cells whose signs are escaped already."""

from collections.abc import Iterable, Iterator, Sequence


def table_lines(
    columns: Sequence[str], rows: Iterable[Iterable[str]], *, rule: str = ""
) -> Iterator[str]:
    """The lines of a table; `rule` stands below the names where columns are not just `---`.

    Examples
    --------
    >>> print(*table_lines(["run", "nDCG"], [["bm25", "0.4"]]), sep="\\n")
    | run | nDCG |
    |---|---|
    | bm25 | 0.4 |
    """
    yield table_line(columns)
    yield rule or f"|{'---|' * len(columns)}"
    yield from map(table_line, rows)


def table_line(cells: Iterable[str]) -> str:
    """One row of a table."""
    return f"| {' | '.join(cells)} |"
