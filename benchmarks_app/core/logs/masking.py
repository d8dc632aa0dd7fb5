"""Personal data in queries, found by its form and replaced by its kind in brackets.

People type more into a search box than they search for. Each kind below has a form of its own, and
where something harmless has the same form (an ISBN, a version number, an error code) it is left
alone: a masked query is spoiled as a query. No rule finds a name in a row of words, so masking is
no proof that a log is anonymous; the floor on how often a query was asked is what helps there.
"""

import ipaddress
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from benchmarks_app.core.log_errors import MaskKindError

LONG_RUN = 10


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of personal data: what it is called, what finds it, and what confirms a find."""

    name: str
    label: str
    pattern: re.Pattern[str]
    # A cheap look at the text: without any of these characters there is nothing to find.
    needs: str
    is_meant: Callable[[re.Match[str]], bool] = lambda found: True
    replacement: str = ""

    def masked(self, text: str) -> str:
        """The text with every find of this kind replaced."""
        if not any(character in text for character in self.needs):
            return text
        return self.pattern.sub(self._of, text)

    def _of(self, found: re.Match[str]) -> str:
        if not self.is_meant(found):
            return found[0]
        return found.expand(self.replacement) if self.replacement else f"[{self.name}]"


@dataclass(frozen=True, slots=True)
class Masked:
    """A text after masking, and the kinds of what was in it, in the order of `KINDS`."""

    text: str
    kinds: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing but masks is left."""
        return bool(self.kinds) and not MASKS.sub("", self.text).strip(" ,.;:-+()/'\"<>")


def masked(text: str, kinds: Collection[str] | None = None) -> Masked:
    """The text with personal data replaced: `[email]`, `[phone]` and the like.

    Examples
    --------
    >>> masked("reset password jo.doe@example.org").text
    'reset password [email]'
    >>> masked("isbn 978-3-16-148410-0, c++ 3.5, 2019-2020").kinds
    ()
    """
    found = []
    for kind in KINDS:
        if kinds is not None and kind.name not in kinds:
            continue
        before, text = text, kind.masked(text)
        if text != before:
            found.append(kind.name)
    return Masked(text, tuple(found))


def checked_kinds(kinds: Collection[str]) -> tuple[str, ...]:
    """The kinds in their own order; raises `MaskKindError` for one that is not known."""
    names = [kind.name for kind in KINDS]
    for kind in kinds:
        if kind not in names:
            raise MaskKindError(kind=kind, known=", ".join(names))
    return tuple(name for name in names if name in kinds)


# --- what confirms a find ------------------------------------------------------------------


def digits_of(text: str) -> str:
    return "".join(character for character in text if character in "0123456789")


def has_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of payment cards.

    >>> has_luhn("4111111111111111"), has_luhn("4111111111111112")
    (True, False)
    """
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def is_isbn(digits: str) -> bool:
    """Whether 10 or 13 digits (the last of ten may be X) are the number of a book.

    >>> is_isbn("9783161484100"), is_isbn("316148410X"), is_isbn("9783161484101")
    (True, True, False)
    """
    if len(digits) == 13 and digits.startswith(("978", "979")):
        return sum(int(digit) * (1, 3)[place % 2] for place, digit in enumerate(digits)) % 10 == 0
    if len(digits) == 10:
        values = [10 if digit in "Xx" else int(digit) for digit in digits]
        return sum(value * (10 - place) for place, value in enumerate(values)) % 11 == 0
    return False


def _is_card(found: re.Match[str]) -> bool:
    """Whether it is as long as a card's number that begins so, and its check digit right."""
    digits = digits_of(found[0])
    return bool(CARDS.fullmatch(digits)) and has_luhn(digits) and not _is_in_doi(found)


def _is_iban(found: re.Match[str]) -> bool:
    """Whether the remainder by 97 is right: letters count from A = 10, the first four come last."""
    letters = found[0].replace(" ", "").upper()
    turned = letters[4:] + letters[:4]
    return 15 <= len(letters) <= 34 and int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def is_issn(digits: str) -> bool:
    """Whether 8 digits are the number of a journal.

    >>> is_issn("20493630"), is_issn("20493631")
    (True, False)
    """
    values = [int(digit) * (8 - place) for place, digit in enumerate(digits)]
    return len(digits) == 8 and sum(values) % 11 == 0


def _is_phone(found: re.Match[str]) -> bool:
    digits = digits_of(found[0])
    is_book = is_isbn(digits) or is_issn(digits)
    least = LONG_RUN if found[0].isdigit() else 8
    return least <= len(digits) <= 15 and not is_book and not _is_in_doi(found)


def _is_of_someone(found: re.Match[str]) -> bool:
    """Whether an IPv4 address can be somebody's, and is no number of a version.

    Addresses of private nets and of documents are nobody's. A version rarely has two parts of two
    digits; most addresses do.
    """
    parts = found[0].split(".")
    if sum(len(part) > 1 for part in parts) < 2:
        return False
    return _is_global(found[0])


def _is_global(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).is_global
    except ValueError:
        return False


def _is_long_run(found: re.Match[str]) -> bool:
    return not is_isbn(found[0]) and not _is_in_doi(found)


def _is_in_doi(found: re.Match[str]) -> bool:
    """Whether it stands in the name of an article (10.1080/00223891003670166) or in an address."""
    word = found.string[: found.end()].rsplit(None, 1)[-1]
    return bool(DOI.search(word)) or "://" in word


# Visa, Mastercard, American Express, Discover and UnionPay by their first digits.
CARDS = re.compile(
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}"
    r"|3[47]\d{13}|6(?:011|4[4-9]\d|5\d{2}|2\d{2})\d{12}(?:\d{3})?"
)
DOI = re.compile(r"\b10\.\d{4,9}/")
# What is written behind an @ and is no domain: files, and versions of packages.
FILES = "png|jpe?g|gif|svg|webp|js|ts|css|json|html?|py|md|txt"
NAMED = (
    r"my (?:full )?name is|i am called|mein name ist|ich hei(?:ss|ß)e|je m['\u2019]appelle"
    r"|mon nom est|me llamo|mi nombre es|mi chiamo|jeg heter|mitt navn er|jag heter|mijn naam is"
)
# Words that end a name: what follows them is what was searched for.
ENDS = (
    r"and|und|og|och|et|y|e|en|i|ich|je|jeg|jag|from|aus|fra|de|but|can|how|what|where|is|in|at"
    r"|on|to|please|bitte|born|live|lives|with|the|a|need|want"
)
WORD = rf"(?!(?:{ENDS})\b)[^\W\d_][^\W\d_'\u2019.-]*(?:[.'\u2019-][^\W\d_]+)*"

KINDS: tuple[Kind, ...] = (
    Kind(
        "credentials",
        "a name and password in an address, or a key in its parameters",
        re.compile(
            r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@"
            r"|(?P<key>(?<=[?&;])(?:access_token|api_?key|auth|passwd|password|pwd|secret|session"
            r"|session_?id|sid|token)=)[^\s&#;]+",
            re.IGNORECASE,
        ),
        needs=":=",
        replacement=r"\g<scheme>\g<key>[credentials]",
    ),
    Kind(
        "email",
        "an e-mail address",
        re.compile(
            rf"(?<![\w.+%-])[\w.+%-]*\w@(?!\w+\.(?:{FILES})\b)(?:[\w-]+\.)+[^\W\d_]{{2,24}}\b",
            re.IGNORECASE,
        ),
        needs="@",
    ),
    Kind(
        "iban",
        "the number of a bank account (IBAN, its check digits right)",
        re.compile(
            r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b",
            re.IGNORECASE,
        ),
        needs="0123456789",
        is_meant=_is_iban,
    ),
    Kind(
        "card",
        "the number of a payment card (15 to 19 digits, its first and its check digit right)",
        re.compile(r"(?<![\w.-])[2-6](?:[ -]?\d){14,18}(?![\w-])"),
        needs="23456",
        is_meant=_is_card,
    ),
    Kind(
        "ip",
        "an IP address that can be somebody's",
        re.compile(
            r"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}"
            r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![\w.]*\w)"
        ),
        needs=".",
        is_meant=_is_of_someone,
    ),
    Kind(
        "ip",
        "an IP address that can be somebody's",
        re.compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:{1,2}){3,7}[0-9a-f]{1,4}(?![\w:])", re.IGNORECASE),
        needs=":",
        is_meant=lambda found: _is_global(found[0]),
    ),
    Kind(
        "phone",
        "a telephone number, with + or 00, or grouped as one",
        re.compile(
            r"(?<![\w.+-])(?:"
            r"(?:\+|00)[1-9]\d{0,2}(?:[ ./-]?\(?\d{1,5}\)?){2,6}"
            r"|\(0?\d{2,5}\)[ -]?\d{2,4}[ -]?\d{2,5}(?:[ -]?\d{2,5})?"
            r"|[2-9]\d{2}[-. ][2-9]\d{2}[-. ]\d{4}"
            r"|0\d{2,4}[ /-]\d{2,4}[ -]?\d{2,4}(?:[ -]?\d{2,4})?"
            r")(?![\w-])"
        ),
        needs="0123456789",
        is_meant=_is_phone,
    ),
    Kind(
        "number",
        f"{LONG_RUN} or more digits in a row that are no ISBN",
        re.compile(rf"(?<![\w.-])\d{{{LONG_RUN},}}(?![\w-])"),
        needs="0123456789",
        is_meant=_is_long_run,
    ),
    Kind(
        "name",
        "one to three words after 'my name is' and the like, in nine languages",
        re.compile(rf"\b(?P<said>{NAMED})[ :]+{WORD}(?: {WORD}){{0,2}}", re.IGNORECASE),
        needs="aeiouAEIOU",
        replacement=r"\g<said> [name]",
    ),
)
KIND_LABELS: dict[str, str] = {kind.name: kind.label for kind in KINDS}
MASKS = re.compile("|".join(rf"\[{name}\]" for name in KIND_LABELS))


def every_mask(text: str) -> Iterator[str]:
    """The kinds of the masks in a text, one for each mask."""
    return (found[0][1:-1] for found in MASKS.finditer(text))
