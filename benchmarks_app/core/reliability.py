"""What a number of queries can show, in words."""


def reach_in_words(detectable: float | None, *, is_assumed: bool) -> str:
    """A sentence on the smallest difference that is found; empty where it is not known.

    Examples
    --------
    >>> reach_in_words(0.1, is_assumed=True)
    'Differences below 0.100 cannot be told from chance, as far as is known before two runs.'
    """
    if detectable is None:
        return ""
    how = ", as far as is known before two runs" if is_assumed else ""
    return f"Differences below {detectable:.3f} cannot be told from chance{how}."
