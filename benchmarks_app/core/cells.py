"""Cells of CSV that a spreadsheet takes for text."""

# What a spreadsheet would run as a formula when it begins a cell.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("a=b")
    ("'=1+1", 'a=b')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
