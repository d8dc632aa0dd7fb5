"""One spelling for texts that differ in case, width, spaces or punctuation only.

Punctuation goes, except where it tells one thing from another: c++ is not c, .net is not net, 3.5
is not 35. Stripping all of it made ".de" and ".at" look alike.
"""

import re
import unicodedata

# Spellings of one sign that NFKC leaves apart.
_ONE_SIGN = {
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{MODIFIER LETTER APOSTROPHE}": "'",
    "\N{HYPHEN}": "-",
    "\N{NON-BREAKING HYPHEN}": "-",
    "\N{MINUS SIGN}": "-",
}
# They change words of some scripts; every other invisible character goes.
_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
# Punctuation, spaces, mathematical and modifying signs.
_SEPARATING = ("P", "Z", "Sm", "Sk", "Cc")

_SIGN = r"[!-/:-@\[-`{-~]"
_WORD = r"[^\s!-/:-@\[-`{-~]"
_KEPT = "|".join(
    [
        rf"(?<={_WORD})[.&@+](?={_WORD})",  # node.js, at&t, me@home
        r"(?<=\d)[,:/](?=\d)",  # 1,000 and 12:30 and 24/7
        rf"(?<!{_WORD})(?<!\.)\.(?={_WORD})",  # .net
        rf"(?<={_WORD})\+{{1,2}}(?!\+|{_WORD})",  # a+ and c++
        rf"(?<={_WORD})#(?!#|{_WORD})",  # c#
        r"(?<=\d)%",  # 5%
        r"\$(?=\d)",  # $5
        r"(?<!\S)-(?=\d)",  # -5
    ]
)
# Whether there is a sign at all is asked first: at most places there is none.
_SIGNS = re.compile(rf"(?={_SIGN})(?:({_KEPT})|(?<={_WORD})'(?={_WORD})()|{_SIGN})")


class _Signs(dict[int, str | None]):
    """What becomes of each character beyond ASCII, found out when it is first met."""

    def __missing__(self, code: int) -> str | None:
        self[code] = sign = _sign(chr(code))
        return sign


def _sign(char: str) -> str | None:
    if char in _ONE_SIGN:
        return _ONE_SIGN[char]
    category = unicodedata.category(char)
    if char.isascii() and not category.startswith("C"):
        return char
    if category == "Cf" and char not in _JOINERS:
        return None
    return " " if category.startswith(_SEPARATING) else char


_signs = _Signs()


def normalised(text: str) -> str:
    """The text folded and without idle punctuation; equal for texts that say the same letters.

    NFKC, case-folding, an apostrophe inside a word taken out, a hyphen and any other idle sign made
    a space, one space between words. A text of punctuation alone keeps it: "?" and "!" are not the
    same question.

    Examples
    --------
    >>> normalised("  What's new in C++ (and .NET 3.5)?")
    'whats new in c++ and .net 3.5'
    >>> normalised("“Wi-Fi” — at 5%…")
    'wi fi at 5%'
    >>> normalised("?!")
    '?!'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = unicodedata.normalize("NFKC", folded).translate(_signs)
    plain = " ".join(_SIGNS.sub(_kept, folded).split())
    return plain or " ".join(folded.split()) or " ".join(text.split())


def _kept(match: re.Match[str]) -> str:
    if match[1]:
        return match[1]
    return "" if match[2] is not None else " "
