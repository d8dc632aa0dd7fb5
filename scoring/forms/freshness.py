"""What the address of a page on freshness asks for."""

LONGEST_DAYS = 36_500


def asked_days(text: str) -> int | None:
    """How old a label may be, as an address says it; None where it does not."""
    return min(int(text), LONGEST_DAYS) or None if text.isascii() and text.isdigit() else None
