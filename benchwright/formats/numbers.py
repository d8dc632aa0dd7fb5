"""Numbers as files write them, read in one way: no reader takes what another one refuses."""

import re
from math import isfinite, isnan

# Nine digits at most; `2.0` and numpy's `2.000e+00` are the number 2.
_WHOLE = re.compile(r"([+-]?[0-9]{1,9})(?:\.0*)?(?:[eE][+-]?0+)?")


# More digits than any database gives a row.
_LONGEST_KEY = 18


def row_key(text: str) -> int | None:
    """The number of a row, as an address or a form names it; None where no row can have it.

    >>> [row_key(text) for text in ("7", "²", "-1", "7.0", "9" * 19)]
    [7, None, None, None, None]
    """
    is_key = text.isascii() and text.isdigit() and len(text) <= _LONGEST_KEY
    return int(text) if is_key else None


def whole(value: object) -> int | None:
    """The whole number that a token, a cell or a value is; None where it is none.

    Truth values are none, and neither are `1,0`, `1_0` and digits beyond ASCII.

    >>> [whole(value) for value in (b"2", " 2.0 ", 2.0, "2.5", "2,0", True)]
    [2, 2, 2, None, None, None]
    """
    if isinstance(value, bytes | str):
        match = _WHOLE.fullmatch(_text(value))
        return int(match[1]) if match else None
    if isinstance(value, float):
        return int(value) if isfinite(value) and value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def real(value: object) -> float | None:
    """The number that a token, a cell or a value is, infinite ones among them; None for the rest.

    >>> [real(value) for value in (b"0.5", "-1e3", "inf", "nan", "9,5", "1_0", None)]
    [0.5, -1000.0, inf, None, None, None, None]
    """
    if isinstance(value, bytes | str):
        value = _text(value)
        # float() takes 1_0 and digits of any script, which no other reader does.
        if "_" in value or not value.isascii():
            return None
    elif isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return None if isnan(number) else number


def _text(value: bytes | str) -> str:
    """A cell without the blanks around it; a token, which has none, as it is."""
    if isinstance(value, bytes):
        text = value.decode("latin-1")
        return text if text == text.strip() else "_"
    return value.strip()
