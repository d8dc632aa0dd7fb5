"""Languages: their codes and names, and which stemmer each has."""

import sys
import unicodedata
from functools import cache
from itertools import pairwise

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
_CODE_OF_NAME = {name: code for code, name in NAMES.items()}
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


def code_of(tag: str) -> str:
    """The two-letter code of a language's tag or English name, where there is one.

    Region and script are left out.

    Examples
    --------
    >>> code_of("pt-BR"), code_of("nob"), code_of("German"), code_of("mi"), code_of("")
    ('pt', 'no', 'de', 'mi', '')
    """
    start = tag.strip().casefold().replace("_", "-").split("-")[0]
    return _CODE_OF_NAME.get(start) or OTHER_CODES.get(start, start)


def stemmer_of(tag: str) -> str | None:
    """The Snowball algorithm of a language, None where there is none.

    Examples
    --------
    >>> stemmer_of("de"), stemmer_of("nn"), stemmer_of("zh")
    ('german', 'norwegian', None)
    """
    name = NAMES.get(code_of(tag))
    return name if name in _algorithms() else None


@cache
def _algorithms() -> frozenset[str]:
    import Stemmer

    return frozenset(Stemmer.algorithms())


@cache
def marks() -> str:
    """The inside of a class of the marks that belong to letters, which Python's `\\w` lacks.

    Made when first needed, for it looks at all of Unicode; ranges are matched sooner than each.
    """
    is_mark = [
        unicodedata.category(chr(code)) in ("Mn", "Mc") for code in range(sys.maxunicode + 1)
    ]
    edges = [code for code, (was, now) in enumerate(pairwise(is_mark), start=1) if was != now]
    starts, ends = edges[::2], edges[1::2]
    return "".join(f"{chr(start)}-{chr(end - 1)}" for start, end in zip(starts, ends, strict=True))
