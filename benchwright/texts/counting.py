"""Numbers with their nouns."""


def counted(n: int, noun: str) -> str:
    """A number and its noun: `1 query`, `2 queries`.

    Examples
    --------
    >>> counted(1, "query"), counted(1200, "query"), counted(2, "label")
    ('1 query', '1,200 queries', '2 labels')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"
