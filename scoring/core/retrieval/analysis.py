"""From text to words, and from words to the features a system counts."""

import re
import unicodedata
from collections.abc import Callable, Sequence

import Stemmer

Expansion = Callable[[Sequence[str]], list[list[str]]]
"""Distinct words in, the features of each out, in the same order."""

NGRAM_SIZES = (3, 4, 5)

_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """Runs of letters and digits in reading order, NFKC-normalised and case-folded.

    The underscore separates, so that `read_text` is found by "read". A script written without
    spaces gives one long word a clause; character n-grams are the features that still match there.

    Examples
    --------
    >>> words_of("os.path: READ_text!")
    ['os', 'path', 'read', 'text']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def same_words(words: Sequence[str]) -> list[list[str]]:
    """Each word as its own only feature."""
    return [[word] for word in words]


def english_stems(words: Sequence[str]) -> list[list[str]]:
    """The Snowball English stem of each word.

    Examples
    --------
    >>> english_stems(["boundaries", "boundary"])
    [['boundari'], ['boundari']]
    """
    # A stemmer is not safe to share between threads, and making one takes microseconds.
    return [[stem] for stem in Stemmer.Stemmer("english").stemWords(list(words))]


def character_ngrams(words: Sequence[str]) -> list[list[str]]:
    """All n-grams of 3 to 5 characters of each word, one blank put before and after it.

    Examples
    --------
    >>> character_ngrams(["at"])
    [[' at', 'at ', ' at ']]
    """
    return [_ngrams_of(f" {word} ") for word in words]


def _ngrams_of(padded: str) -> list[str]:
    return [
        padded[start : start + size]
        for size in NGRAM_SIZES
        for start in range(len(padded) - size + 1)
    ]
