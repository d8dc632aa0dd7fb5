"""Personal data in queries, found by its form and replaced by its kind in brackets.

People type more into a search box than they search for. Each kind below has a form of its own, and
where something harmless has the same form (an ISBN, a version number, an error code) it is left
alone: a masked query is spoiled as a query. No rule finds a name in a row of words, so masking is
no proof that a log is anonymous; the floor on how often a query was asked is what helps there.

Telephone numbers and the numbers of states differ by country: they are looked for as the regions
say. Where a number can be two things, the words around it decide, and without any it is personal.
"""

import ipaddress
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from stdnum import iban, isbn, issn, luhn

from benchwright.logs.errors import MaskKindError, MaskRegionError
from benchwright.logs.identifiers import shapes_of
from benchwright.logs.telephones import is_national, known_regions, rows_in

LONG_RUN = 10
# Digits in a row up to here can be of somebody; more of them are a catalogue's.
LONGEST_PERSONAL = 13
# A query of more words is a sentence or a reference to an article, with numbers of its own.
FEW_WORDS = 6
REGIONS = ("CH", "DE", "ES", "FR", "GB", "IN", "IT", "NL", "NO", "US")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of personal data: what it is called, what finds it, and what confirms a find."""

    name: str
    label: str
    pattern: re.Pattern[str]
    # A cheap look at the text: without any of these in it there is nothing to find.
    needs: Collection[str]
    is_meant: Callable[[re.Match[str]], bool] = lambda match: True
    replacement: str = ""

    def masked(self, text: str, regions: tuple[str, ...]) -> str:
        """The text with every find of this kind replaced."""
        if not any(part in text for part in self.needs):
            return text
        return self.pattern.sub(self._of, text)

    def _of(self, match: re.Match[str]) -> str:
        if not self.is_meant(match):
            return match[0]
        return match.expand(self.replacement) if self.replacement else f"[{self.name}]"


@dataclass(frozen=True, slots=True)
class SearchedKind:
    """A kind that no single pattern finds; `mask` takes a text and the regions."""

    name: str
    label: str
    least_digits: int
    mask: Callable[[str, tuple[str, ...]], str]

    def masked(self, text: str, regions: tuple[str, ...]) -> str:
        """The text with every find of this kind replaced."""
        return self.mask(text, regions) if n_digits(text) >= self.least_digits else text


@dataclass(frozen=True, slots=True)
class Masked:
    """A text after masking, and the kinds of what was in it, in the order of `KINDS`."""

    text: str
    kinds: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing but masks is left."""
        return bool(self.kinds) and not MASKS.sub("", self.text).strip(" ,.;:-+()/'\"<>")


def masked(
    text: str, kinds: Collection[str] | None = None, regions: tuple[str, ...] = REGIONS
) -> Masked:
    """The text with personal data replaced: `[email]`, `[phone]` and the like.

    `regions` are the countries whose telephone numbers and numbers of people are looked for.

    Examples
    --------
    >>> masked("reset password jo.doe@example.org").text
    'reset password [email]'
    >>> masked("06 12 34 56 78", regions=("FR",)).text, masked("06 12 34 56 78", regions=()).kinds
    ('[phone]', ())
    >>> masked("isbn 978-3-16-148410-0, c++ 3.5, 2019-2020").kinds
    ()
    """
    kinds_found: list[str] = []
    before = ""
    # A mask is one word where several were: what is left is looked at again until nothing changes.
    while text != before:
        before = text
        for kind in KINDS if MARKED.search(text) else KINDS[-1:]:
            if kinds is not None and kind.name not in kinds:
                continue
            unmasked, text = text, kind.masked(text, regions)
            if text != unmasked:
                kinds_found.append(kind.name)
        if not kinds_found:
            break
    return Masked(text, tuple(name for name in KIND_LABELS if name in kinds_found))


def checked_kinds(kinds: Collection[str]) -> tuple[str, ...]:
    """The kinds in their own order; raises `MaskKindError` for one that is not known."""
    for kind in kinds:
        if kind not in KIND_LABELS:
            raise MaskKindError(kind=kind, known=", ".join(KIND_LABELS))
    return tuple(name for name in KIND_LABELS if name in kinds)


def checked_regions(regions: Collection[str] | str) -> tuple[str, ...]:
    """The regions in capitals, by their letters; raises `MaskRegionError` for no country's.

    A text has them with blanks or commas between; `none` is none of them.

    >>> checked_regions("us, ch"), checked_regions("none")
    (('CH', 'US'), ())
    """
    names = re.split(r"[\s,]+", regions) if isinstance(regions, str) else regions
    named = {region.strip().upper() for region in names} - {"", "NONE"}
    for region in sorted(named):
        if region not in known_regions():
            raise MaskRegionError(region=region)
    return tuple(sorted(named))


# --- what confirms a find ------------------------------------------------------------------


# What a number is, where a word stands before it: nobody's, or a telephone's.
NOBODYS = re.compile(
    r"(?:\b(?:isbn|issn|ismn|ean|upc|gtin|sku|doi|pmid|pmc|oclc|arxiv|lccn|nct|barcode|part|model"
    r"|serial|error|patent|mms)|\barticle)(?: ?id| ?no\.?| ?nr\.?| ?number| ?code)?[ :#.-]*$",
    re.IGNORECASE,
)
TELEPHONES = re.compile(
    r"\b(?:tele?(?:ph|f)[a-zéò]*|tel|tlf|tfno|fono|phone|fax|call(?:ed|ing)?|cell|mobile?|móvil"
    r"|handy|sms|whats ?app|rufnummer|anruf|portable|cellulare|natel|ring)\b",
    re.IGNORECASE,
)
# What a long number is of somebody.
SOMEBODYS = re.compile(
    r"\b(?:account|acct|customer|client|member(?:ship)?|patron|reader|policy|parcel|tracking|shipment"
    r"|order|invoice|ticket|booking|passport|licen[cs]e|student|employee|patient|insurance|card"
    r"|konto|kunden?|sendung|paket|bestilling|pakke|faktura|medlem|commande|compte|cuenta|pedido"
    r"|conto|cliente?|ordine)(?:s?nummer|nr)?\W+(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)


def n_digits(text: str) -> int:
    return sum(map(text.count, "0123456789"))


def digits_of(text: str) -> str:
    return "".join(character for character in text if character in "0123456789")


def _is_nobodys(text: str, start: int) -> bool:
    """Whether what starts there is named as a book, an article, a thing."""
    return bool(NOBODYS.search(text[max(0, start - 24) : start]))


def _is_book(text: str) -> bool:
    """Whether it is the number of a book or a journal, and grouped as those are.

    Ten digits in a row can be a book's and a telephone's: who asks decides by the words.

    >>> _is_book("0-306-40615-2"), _is_book("212-555-0106"), _is_book("9783161484100")
    (True, False, True)
    """
    sizes = [len(part) for part in re.findall(r"\d+", text)]
    if sizes in ([8], [4, 4]):
        return bool(issn.is_valid(digits_of(text)))
    if sum(sizes) == 13 or len(sizes) == 1 or (len(sizes) == 4 and sizes[-1] == 1):
        return bool(isbn.is_valid(digits_of(text)))
    return False


def _is_card(match: re.Match[str]) -> bool:
    """Whether it is as long as a card's number that begins so, and its check digit right."""
    digits = digits_of(match[0])
    # Libraries number books with 14 digits that begin with 3 and end with the same check digit.
    is_grouped = len(digits) != 14 or not match[0].isdigit() or digits[:2] != "30"
    is_right = bool(CARDS.fullmatch(digits)) and luhn.is_valid(digits)
    return is_right and is_grouped and not _is_in_doi(match.string, match.end())


def _mask_ibans(text: str, regions: tuple[str, ...]) -> str:
    """The text without numbers of accounts; a country's own check digits are not looked at."""

    def replaced(match: re.Match[str]) -> str:
        # Words after it may look like more of it: the longest part that is one counts.
        ends = [boundary.start() for boundary in re.finditer(r"(?<=\w)\b", match[0])]
        for end in reversed(ends):
            if iban.is_valid(match[0][:end], check_country=False):
                return f"[iban]{match[0][end:]}"
        return match[0]

    return IBAN.sub(replaced, text)


def _is_phone(match: re.Match[str]) -> bool:
    """Of a number that is grouped as a telephone's or dialled from abroad."""
    text = match[0]
    if not 8 <= len(digits_of(text)) <= 15 or _is_in_doi(match.string, match.end()):
        return False
    return text[0] == "+" or not (_is_book(text) or _is_nobodys(match.string, match.start()))


def _is_somebodys(text: str, start: int) -> bool:
    """Whether what starts there is named as an account, a parcel and the like."""
    return bool(SOMEBODYS.search(text[max(0, start - 40) : start]))


def _is_short(text: str) -> bool:
    return text.count(" ") < FEW_WORDS


def _mask_identifiers(text: str, regions: tuple[str, ...]) -> str:
    n = n_digits(text)
    for shape in shapes_of(regions):
        if n >= shape.least_digits:
            text = shape.masked(text, "[id]")
    return text


def _mask_telephones(text: str, regions: tuple[str, ...]) -> str:
    """The text without the numbers of telephones of the regions."""
    is_said = bool(TELEPHONES.search(text))
    finds: list[tuple[int, int]] = []
    for row in rows_in(text):
        if _is_book(row.text) and (len(row.groups) > 1 or len(row.text) > LONG_RUN):
            continue
        for run in row.runs():
            start, end = run.span
            if finds and start < finds[-1][1]:
                continue
            if _is_nobodys(text, start) or _is_in_doi(text, end):
                continue
            if not is_said and len(run.parts) == 1 and _is_somebodys(text, start):
                continue
            if is_national(run, regions, is_said=is_said, is_short=_is_short(text)):
                finds.append((start, end))
    for start, end in reversed(finds):
        text = f"{text[:start]}[phone]{text[end:]}"
    return text


def _is_of_someone(match: re.Match[str]) -> bool:
    """Whether an IPv4 address can be somebody's, and is no number of a version.

    Addresses of private nets and of documents are nobody's. A version rarely has two parts of two
    digits; most addresses do.
    """
    parts = match[0].split(".")
    if sum(len(part) > 1 for part in parts) < 2:
        return False
    return _is_global(match[0])


def _is_global(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).is_global
    except ValueError:
        return False


def _is_long_run(match: re.Match[str]) -> bool:
    """Whether a long number is of somebody: by a word, or as long as such numbers are.

    Catalogues, articles and barcodes have longer ones, and so have references in a sentence.
    """
    text, digits, start = match.string, match[0], match.start()
    if _is_book(digits) or _is_nobodys(text, start) or _is_in_doi(text, match.end()):
        return False
    # Libraries number readers with 14 digits that begin with 2 and end with a check digit.
    is_reader = len(digits) == 14 and digits[0] == "2" and luhn.is_valid(digits)
    is_likely = _is_short(text) and len(digits) <= LONGEST_PERSONAL
    return bool(is_likely or is_reader or _is_somebodys(text, start))


def _is_in_doi(text: str, end: int) -> bool:
    """Whether it stands in the name of an article (10.1080/00223891003670166) or in an address."""
    word = text[:end].rsplit(None, 1)[-1]
    return bool(DOI.search(word)) or "://" in word


# Visa, Mastercard, American Express, Discover, UnionPay, JCB, Diners Club, Mir, RuPay and Maestro
# by their first digits.
CARDS = re.compile(
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}"
    r"|3[47]\d{13}|6(?:011|4[4-9]\d|5\d{2}|2\d{2})\d{12}(?:\d{3})?"
    r"|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[689]\d)\d{11}|220[0-4]\d{12}|(?:508|81|82)\d{13,14}"
    r"|60\d{14}|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{12}(?:\d{3})?"
)
# A blank begins each further group: what can be cut in many ways would be tried in all of them.
IBAN = re.compile(r"\b[A-Z]{2}\d{2} ?[A-Z0-9]{1,30}(?: [A-Z0-9]{1,30}){0,8}\b", re.IGNORECASE)
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

ENDINGS = "com|org|net|edu|gov|io|info|biz|co|uk|de|fr|it|es|ch|at|nl|no|se|dk|fi|be|pl|eu|in|us|ca"
WORDS_OF_SECRETS = (
    r"pass(?:word|wd|phrase|code|wort|ord)|pwd|kennwort|mot de passe|mdp|contrase(?:ñ|n)a"
    r"|l(?:ö|o)senord|wachtwoord|senha|api[ _-]?(?:key|token|secret)|access[ _-]?(?:key|token)"
    r"|auth[ _-]?(?:key|token)|(?:secret|private)[ _-]?(?:access[ _-]?)?key|client[ _-]?secret"
)
WORDS_OF_TOKENS = (
    "access_token|api_?key|auth|passwd|password|pwd|secret|session|session_?id|sid|token"
)

KINDS: tuple[Kind | SearchedKind, ...] = (
    Kind(
        "credentials",
        "a password, a key or a token, where it is called so or known by its form",
        re.compile(
            r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@"
            rf"|(?P<key>(?<=[?&;])(?:{WORDS_OF_TOKENS})=)(?!\[credentials\])[^\s&#;]+"
            rf"|(?P<said>\b(?:{WORDS_OF_SECRETS})[\"']?\s*[:=]\s*[\"']?)"
            rf"(?!\[credentials\]|(?:{ENDS})(?:\s|$))[^\s\"']+"
            r"|(?P<loose>\b(?:token|secret|auth|bearer|key|sid)\s*[:= ]\s*[\"']?)"
            r"(?=[^\s\"']*\d)(?=[^\s\"']*[a-z])[\w.~+/=-]{16,}",
            re.IGNORECASE,
        ),
        needs=":=",
        replacement=r"\g<scheme>\g<key>\g<said>\g<loose>[credentials]",
    ),
    Kind(
        "credentials",
        "a password, a key or a token, where it is called so or known by its form",
        re.compile(
            rf"(?P<said>\b(?:{WORDS_OF_SECRETS}) (?:is|ist|er|est|es) )(?=\S*\d)[^\s\"'\[]{{4,}}"
            r"|\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_\w{30,}|github_pat_\w{30,}|xox[abprs]-[\w-]{10,}"
            r"|sk-[\w-]{20,}|AIza[\w-]{35}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+)",
            re.IGNORECASE,
        ),
        needs="0123456789",
        replacement=r"\g<said>[credentials]",
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
        "email",
        "an e-mail address",
        # Written so that machines do not find it: (at), [dot], a full-width sign, blanks.
        re.compile(
            r"(?<![\w.+%-])[\w.+%-]{0,63}\w"
            r"(?: ?[(\[{<] ?(?:at|@|ät|arroba|chiocciola) ?[)\]}>] ?| ?\uff20 ?| @ )"
            r"(?:[\w-]{1,63}(?:\.| ?[(\[{<] ?(?:dot|punkt|point|punto|\.) ?[)\]}>] ?| dot )){1,4}"
            r"[^\W\d_]{2,24}\b",
            re.IGNORECASE,
        ),
        needs="([{<\uff20@",
    ),
    Kind(
        "email",
        "an e-mail address",
        re.compile(
            rf"(?<![\w.+%-])[\w.+%-]{{1,64}} at (?:[\w-]{{1,63}} dot ){{1,3}}(?:{ENDINGS})\b",
            re.IGNORECASE,
        ),
        needs=[" dot ", " DOT "],
    ),
    SearchedKind(
        "iban",
        "the number of a bank account (IBAN, its length and check digits right)",
        11,
        _mask_ibans,
    ),
    Kind(
        "card",
        "the number of a payment card (14 to 19 digits, its first and its check digit right)",
        re.compile(r"(?<![\w.-])[2-68](?:[ -]?\d){13,18}(?![\w-])"),
        needs="234568",
        is_meant=_is_card,
    ),
    SearchedKind(
        "id",
        "a number a state gives to a person: social insurance, tax, identity (by country)",
        4,
        _mask_identifiers,
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
        is_meant=lambda match: _is_global(match[0]),
    ),
    Kind(
        "phone",
        "a telephone number, with + or 00, or as it is dialled within a country",
        re.compile(
            r"(?<![\w.+-])(?:"
            r"(?:\+|00)[1-9]\d{0,2}(?:[ ./-]?\(?\d{1,5}\)?){2,6}"
            r"|(?:1[-. ]?)?\(0?\d{2,5}\)[ -]?\d{2,4}[ -]?\d{2,5}(?:[ -]?\d{2,5})?"
            r"|(?:1[-. ])?[2-9]\d{2}[-. ][2-9]\d{2}[-. ]\d{4}"
            r"|0\d{2,4}[ /-]\d{2,4}[ -]?\d{2,4}(?:[ -]?\d{2,4})?"
            r")(?![\w-])"
        ),
        needs="0123456789",
        is_meant=_is_phone,
    ),
    SearchedKind(
        "phone",
        "a telephone number, with + or 00, or as it is dialled within a country",
        8,
        _mask_telephones,
    ),
    Kind(
        "number",
        "ten or more digits in a row that are likely somebody's: an account's, a parcel's",
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
# A text without any of these can hold a name, the last kind, and nothing else.
MARKED = re.compile(r"[0-9@:=(\[{<\uff20]| dot ", re.IGNORECASE)
KIND_LABELS: dict[str, str] = {kind.name: kind.label for kind in KINDS}
MASKS = re.compile("|".join(rf"\[{name}\]" for name in KIND_LABELS))
