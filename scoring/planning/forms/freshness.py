"""What the address of a page on freshness asks for."""

from benchwright.formats.numbers import row_key

LONGEST_DAYS = 36_500


def asked_days(text: str) -> int | None:
    """How old a label may be, as an address says it; None where it does not."""
    days = row_key(text)
    return min(days, LONGEST_DAYS) if days else None
