"""Numbers with their nouns or behind names, and beside the limits that they are held against."""

from collections.abc import Sequence

MOST_DECIMALS, CLOSE = 6, 1e-9


def counted(n: int, noun: str) -> str:
    """A number and its noun: `1 query`, `2 queries`.

    Examples
    --------
    >>> counted(1, "query"), counted(1200, "query"), counted(2, "label"), counted(2, "person")
    ('1 query', '1,200 queries', '2 labels', '2 people')
    >>> counted(365, "day")
    '365 days'
    """
    is_vowel_before_y = noun[-2:-1] in "aeiou"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and not is_vowel_before_y else f"{noun}s"
    plural = "people" if noun == "person" else plural
    return f"{n:,} {noun if n == 1 else plural}"


def first_of(names: Sequence[str], most: int) -> str:
    """The first few of some names, and how many more there are.

    Examples
    --------
    >>> first_of(["a", "b"], 5), first_of([str(n) for n in range(8)], 5)
    ('a, b', '0, 1, 2, 3, 4 and 3 more')
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def number_beside(value: float, *limits: float, decimals: int = 4) -> str:
    """A rounded number that stands on the side of each limit beside it where the number is.

    It has as many decimals as that takes, `decimals` at least.

    Examples
    --------
    >>> number_beside(0.7996, 0.6, 0.8, decimals=2), number_beside(0.76, 0.6, 0.8, decimals=1)
    ('0.7996', '0.76')
    >>> number_beside(0.8, 0.8, decimals=2), number_beside(-0.01004, -0.01)
    ('0.80', '-0.01004')
    """
    return f"{value:.{_decimals(value, limits, decimals)}f}"


def signed_beside(value: float, *limits: float, decimals: int = 4) -> str:
    """A difference with its sign; as `number_beside`, and 0 only where there is none.

    Examples
    --------
    >>> signed_beside(0.02), signed_beside(-0.00002), signed_beside(-0.0)
    ('+0.0200', '-0.00002', '+0.0000')
    """
    n = _decimals(value, (0.0, *limits), decimals)
    return f"{round(value, n) + 0.0:+.{n}f}"


def percent_beside(share: float, *limits: float, decimals: int = 1) -> str:
    """A share in per cent, without the sign; as `number_beside`, limits are shares, too.

    Examples
    --------
    >>> percent_beside(0.9496, 0.95), percent_beside(0.9999, 1.0)
    ('94.96', '99.99')
    """
    return f"{100 * share:.{_decimals(share, limits, decimals + 2) - 2}f}"


def _decimals(value: float, limits: Sequence[float], least: int) -> int:
    def sides(number: float) -> list[int]:
        # A sum of floats may stop a hair beside the limit that it reaches.
        differences = [number - limit for limit in limits]
        return [(apart > CLOSE) - (apart < -CLOSE) for apart in differences]

    own = sides(value)
    more = range(least, max(least, MOST_DECIMALS))
    return next((n for n in more if sides(round(value, n)) == own), MOST_DECIMALS)
