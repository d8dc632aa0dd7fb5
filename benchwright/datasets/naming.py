"""Splits and languages by the names that collections have given their files."""

from collections.abc import Iterable

from benchwright.detection import Part
from benchwright.detection.collections import split_named, split_of_name
from benchwright.detection.files import LANGUAGES, language_of

MIRACL_LANGUAGES = (
    *("ar", "bn", "de", "en", "es", "fa", "fi", "fr", "hi"),
    *("id", "ja", "ko", "ru", "sw", "te", "th", "yo", "zh"),
)
CODES = {*MIRACL_LANGUAGES, *LANGUAGES.values()}


def split_of_part(part: Part) -> str:
    """Return the split of a file of a collection, or nothing where none is said."""
    split, by_name = split_named(part.split), split_of_name(part.member)
    # The name may say more: `dev.small`, where an import has dev.
    is_closer = by_name.partition(".")[0] == split
    return split if split and not is_closer else by_name


def language_of_member(member: str) -> str:
    """Return the language that a file's name says, or else its folders, or nothing.

    >>> [language_of_member(name) for name in (
    ...     "miracl-corpus-v1.0-sw/docs-0.jsonl.gz", "collections/german_collection.tsv",
    ...     "sw/dev-00000.parquet", "collection.tsv")]
    ['sw', 'de', 'sw', '']
    """
    for part in reversed(member.split("/")):
        language = part if part in CODES else language_of(part)
        if language:
            return language
    return ""


def language_named(text: str) -> str:
    """Return the code of a language that is named by its code or in English.

    >>> language_named("German"), language_named("sw")
    ('de', 'sw')
    """
    name = text.strip().lower()
    return LANGUAGES.get(name, name)


def listed(names: Iterable[str]) -> str:
    """Return names for a message, each once.

    >>> listed(["dev", "", "train", "dev"]), listed([])
    ('dev, train', 'none')
    """
    return ", ".join(sorted({name for name in names if name})) or "none"
