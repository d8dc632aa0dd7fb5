"""From text to words, and from words to the features a system counts."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, partial

import Stemmer

from benchwright.languages import marks, stemmer_of
from benchwright.retrieval.languages import SPACELESS

Expansion = Callable[[Sequence[str]], list[list[str]]]
"""Distinct words in, the features of each out, in the same order."""

NGRAM_SIZES = (3, 4, 5)

ANALYSIS = 1
"""Goes up when a text gives other features than before: counts in caches are then made anew."""

_PLAIN_WORD = re.compile(r"[^\W_]+")
# Scripts written without spaces, and Hangul, whose words end in many ways: Thai, Lao, Burmese,
# Khmer, kana, Han with its extensions and compatibility forms.
_SPACELESS_RUN = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)"
)


def words_of(text: str) -> list[str]:
    """Runs of letters, digits and their marks in reading order, NFKC-normalised and case-folded.

    The underscore separates, so that `read_text` is found by "read". Marks belong to the word: the
    vowel signs of Devanagari or Thai do not cut it. A script written without spaces gives one long
    word a clause; see `character_bigrams`.

    Examples
    --------
    >>> words_of("os.path: READ_text!")
    ['os', 'path', 'read', 'text']
    >>> words_of("हिन्दी में")
    ['हिन्दी', 'में']
    """
    if text.isascii():
        return _PLAIN_WORD.findall(text.lower())
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _marked_word().findall(folded.replace("_", " "))


def same_words(words: Sequence[str]) -> list[list[str]]:
    """Each word as its own only feature."""
    return [[word] for word in words]


def stems(words: Sequence[str], *, algorithm: str) -> list[list[str]]:
    """The Snowball stem of each word, by the algorithm of a language.

    Examples
    --------
    >>> stems(["boundaries", "boundary"], algorithm="english")
    [['boundari'], ['boundari']]
    """
    # A stemmer is not safe to share between threads, and making one takes microseconds.
    return [[stem] for stem in Stemmer.Stemmer(algorithm).stemWords(list(words))]


def character_bigrams(words: Sequence[str]) -> list[list[str]]:
    """All pairs of neighbouring characters where a script has no spaces; other parts as they are.

    A character that stands alone is a feature of its own.

    Examples
    --------
    >>> character_bigrams(["信息检索", "iphone手机"])
    [['信息', '息检', '检索'], ['iphone', '手机']]
    """
    return [_bigrams_of(word) for word in words]


def character_ngrams(words: Sequence[str]) -> list[list[str]]:
    """All n-grams of 3 to 5 characters of each word, one blank put before and after it.

    Examples
    --------
    >>> character_ngrams(["at"])
    [[' at', 'at ', ' at ']]
    """
    return [_ngrams_of(f" {word} ") for word in words]


def word_features(code: str) -> Expansion:
    """What a system of words counts in a language: words, or bigrams where spaces do not tell."""
    return character_bigrams if code in SPACELESS else same_words


def stem_features(code: str) -> Expansion:
    """Snowball's stems of a language; where it has none, what a system of words counts."""
    algorithm = stemmer_of(code)
    return partial(stems, algorithm=algorithm) if algorithm else word_features(code)


def _bigrams_of(word: str) -> list[str]:
    parts = [part for part in _SPACELESS_RUN.split(word) if part]
    return [feature for part in parts for feature in _bigrams_of_part(part)]


def _bigrams_of_part(part: str) -> list[str]:
    if len(part) == 1 or not _SPACELESS_RUN.match(part):
        return [part]
    return [part[start : start + 2] for start in range(len(part) - 1)]


def _ngrams_of(padded: str) -> list[str]:
    return [
        padded[start : start + size]
        for size in NGRAM_SIZES
        for start in range(len(padded) - size + 1)
    ]


@cache
def _marked_word() -> re.Pattern[str]:
    """Runs of word characters and marks."""
    return re.compile(f"\\w[\\w{marks()}]*")
