"""Languages by code and by name, and what searching them needs."""

import re

from scoring.core.retrieval.errors import UnknownLanguageError

ENGLISH = "en"

# ISO 639-1 code: English name, in lower case. Every language that Snowball stems, and those of
# MIRACL and mMARCO, which it partly does not.
NAMES = {
    "ar": "arabic",
    "bn": "bengali",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "ja": "japanese",
    "km": "khmer",
    "ko": "korean",
    "lo": "lao",
    "lt": "lithuanian",
    "my": "burmese",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "sw": "swahili",
    "ta": "tamil",
    "te": "telugu",
    "th": "thai",
    "tr": "turkish",
    "vi": "vietnamese",
    "yi": "yiddish",
    "yo": "yoruba",
    "zh": "chinese",
}
# Codes of three letters, and those of the two written Norwegians.
OTHER_CODES = {
    "ara": "ar",
    "ben": "bn",
    "cat": "ca",
    "chi": "zh",
    "dan": "da",
    "deu": "de",
    "dut": "nl",
    "ell": "el",
    "eng": "en",
    "epo": "eo",
    "est": "et",
    "eus": "eu",
    "fas": "fa",
    "fin": "fi",
    "fra": "fr",
    "fre": "fr",
    "ger": "de",
    "gle": "ga",
    "hin": "hi",
    "hun": "hu",
    "hye": "hy",
    "ind": "id",
    "ita": "it",
    "jpn": "ja",
    "kor": "ko",
    "lit": "lt",
    "nb": "no",
    "nep": "ne",
    "nld": "nl",
    "nn": "no",
    "nno": "no",
    "nob": "no",
    "nor": "no",
    "por": "pt",
    "ron": "ro",
    "rum": "ro",
    "rus": "ru",
    "sot": "st",
    "spa": "es",
    "srp": "sr",
    "swa": "sw",
    "swe": "sv",
    "tam": "ta",
    "tel": "te",
    "tha": "th",
    "tur": "tr",
    "vie": "vi",
    "yid": "yi",
    "yor": "yo",
    "zho": "zh",
}
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
    given = language.strip().casefold()
    code = {name: code for code, name in NAMES.items()}.get(given)
    if code:
        return code
    start = re.split(r"[-_]", given)[0]
    if not _CODE.fullmatch(start):
        raise UnknownLanguageError(language=language, known=", ".join(NAMES.values()))
    return OTHER_CODES.get(start, start)


def stemmer_of(code: str) -> str | None:
    """The Snowball algorithm of a language, None where there is none.

    Examples
    --------
    >>> stemmer_of("de"), stemmer_of("zh")
    ('german', None)
    """
    import Stemmer

    name = NAMES.get(code)
    return name if name in Stemmer.algorithms() else None
