"""Cells of CSV that a spreadsheet takes for text."""

from typing import Any

# What a spreadsheet would run as a formula when it begins a cell.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe_cell(value: Any) -> Any:
    """A value whose text no spreadsheet takes for a formula.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("a=b"), safe_cell(-1)
    ("'=1+1", 'a=b', -1)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


class Echo:
    """A file for `csv` that hands back each line."""

    def write(self, line: str) -> str:
        return line
