"""Words that somebody looks for, in texts of the database."""

from django.db.models import Q


def holds(field: str, words: str) -> Q:
    """That a text has these words, in whichever case.

    SQLite knows that of ASCII alone: others are looked for as they stand, small, large, and begun
    with a large letter.
    """
    cases = {words} if words.isascii() else {words, words.lower(), words.upper(), words.title()}
    return Q(*((f"{field}__icontains", case) for case in sorted(cases)), _connector=Q.OR)
