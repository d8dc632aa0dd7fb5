"""The language that somebody asks to be searched, and what searching it needs."""

import re

from benchwright.languages import NAMES, code_of
from benchwright.retrieval.errors import UnknownLanguageError

ENGLISH = "en"

SPACELESS = frozenset({"zh", "ja", "ko", "th", "lo", "km", "my"})
"""Languages whose words are not, or not all, set apart by spaces."""

_CODE = re.compile(r"[a-z]{2,3}")


def language_code(language: str) -> str:
    """The ISO 639 code of a language given by code or by English name.

    A region or script after the code changes nothing: `pt-BR` is `pt`. A code not in `NAMES`
    stands for itself.

    Raises
    ------
    UnknownLanguageError
        If it is neither a code of two or three letters nor a name in `NAMES`.

    Examples
    --------
    >>> language_code("German"), language_code("pt-BR"), language_code("nob"), language_code("mi")
    ('de', 'pt', 'no', 'mi')
    """
    code = code_of(language)
    if not _CODE.fullmatch(code):
        raise UnknownLanguageError(language=language, known=", ".join(NAMES.values()))
    return code


def language_or_english(language: str) -> str:
    """Its code; "en" where it is none that we know."""
    try:
        return language_code(language)
    except UnknownLanguageError:
        return ENGLISH
