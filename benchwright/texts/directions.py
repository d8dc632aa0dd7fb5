"""Which way a text is written."""

import re
import unicodedata
from typing import Literal

Direction = Literal["ltr", "rtl"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Languages written from right to left unless a subtag names another script.
RTL_LANGUAGES = _names(
    "ar arc arz ckb dv fa glk he iw ji ks lrc mzn nqo pnb prs ps sd syr ug ur yi"
)
RTL_SCRIPTS = _names("adlm arab aran hebr mand nkoo rohg samr syrc thaa")
N_LOOKED_AT = 2000
# A page of Arabic may hold much code or many Latin names, and is still written from the right.
ENOUGH_WHERE_EXPECTED = 0.2
ENOUGH_ELSEWHERE = 0.5
ASCII_LETTER = re.compile("[A-Za-z]")


def direction_of(lang: str, text: str) -> Direction:
    """Right to left where most letters are so, or a fair share and the language says so.

    `lang` is a BCP 47 tag, or empty; it decides alone where the text has no letters.

    >>> direction_of("en", "שלום עולם"), direction_of("he", "HTTP/2: שלום")
    ('rtl', 'rtl')
    """
    is_expected = _is_rtl(lang)
    head = text[:N_LOOKED_AT]
    if head.isascii() and ASCII_LETTER.search(head):
        return "ltr"
    letters = [unicodedata.bidirectional(character) for character in head]
    n_rtl = sum(letter in ("R", "AL") for letter in letters)
    n_letters = n_rtl + letters.count("L")
    if not n_letters:
        return "rtl" if is_expected else "ltr"
    enough = ENOUGH_WHERE_EXPECTED if is_expected else ENOUGH_ELSEWHERE
    return "rtl" if n_rtl / n_letters > enough else "ltr"


def _is_rtl(lang: str) -> bool:
    language, *subtags = lang.casefold().replace("_", "-").split("-")
    scripts = [subtag for subtag in subtags if len(subtag) == 4 and subtag.isalpha()]
    return scripts[0] in RTL_SCRIPTS if scripts else language in RTL_LANGUAGES
