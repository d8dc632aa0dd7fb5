"""Words of queries and titles, as the rules of slices compare them."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from math import log

from benchwright.languages import marks

# Letters and digits, and what belongs to a word: c++, .net, 3.5, don't, os.path, read_text.
_WORD = r"\.?{0}(?:[.'_+#\u2019]+{0})*[+#]*"
_PLAIN_WORD = re.compile(_WORD.format(r"[^\W_]+"))


def words_of(text: str) -> list[str]:
    """The words of a text in reading order, NFKC-normalised and case-folded.

    Marks belong to the word: neither vowel signs of Hindi nor the dot that is left of "İ" cut it.

    Examples
    --------
    >>> words_of("How do I use C++ and .NET 3.5?")
    ['how', 'do', 'i', 'use', 'c++', 'and', '.net', '3.5']
    """
    if text.isascii():
        return _PLAIN_WORD.findall(text.lower())
    return _marked_word().findall(unicodedata.normalize("NFKC", text).casefold())


@cache
def _marked_word() -> re.Pattern[str]:
    return re.compile(_WORD.format(rf"[^\W_]+(?:[{marks()}]+[^\W_]*)*"))


def rarity(n_having: int, n_documents: int) -> float:
    """How much a word tells that `n_having` of the documents have: log((N + 1) / (n + 0.5)).

    Examples
    --------
    >>> round(rarity(1, 100), 2), round(rarity(100, 100), 2)
    (4.21, 0.0)
    """
    return max(0.0, log((n_documents + 1) / (n_having + 0.5)))


def weighted_overlap(
    query: Collection[str], document: Collection[str], weights: Mapping[str, float]
) -> float:
    """Share of the query's words, by weight, that the document has; 0 for a query without words.

    A word without a weight has the largest of all: no document was seen to hold it.

    Examples
    --------
    >>> weighted_overlap({"read", "file"}, {"read", "line"}, {"read": 1.0, "file": 3.0})
    0.25
    """
    heaviest = max(weights.values(), default=1.0)
    whole = sum(weights.get(word, heaviest) for word in query)
    shared = sum(weights.get(word, heaviest) for word in query if word in document)
    return shared / whole if whole else 0.0


def contains_run(words: list[str], part: list[str]) -> bool:
    """Whether `part` stands in `words` in one piece."""
    width = len(part)
    return any(words[at : at + width] == part for at in range(len(words) - width + 1))


def weights_of(texts: Iterable[Collection[str]], words_wanted: Collection[str]) -> dict[str, float]:
    """The rarity of each wanted word among texts, each given as its set of words."""
    counts, n_texts = dict.fromkeys(words_wanted, 0), 0
    for words in texts:
        n_texts += 1
        for word in counts.keys() & words:
            counts[word] += 1
    return {word: rarity(count, n_texts) for word, count in counts.items()}
