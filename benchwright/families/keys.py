"""Keys that are equal for texts which surely ask for one thing."""

import re
import unicodedata
from collections.abc import Iterable

import Stemmer

from benchwright.families.normalising import normalised
from benchwright.languages import stemmer_of

DEFAULT_LANGUAGE = "en"


def exact_key(text: str) -> str:
    """What two texts have in common that differ in case, spaces and punctuation only.

    Examples
    --------
    >>> exact_key("How do I locate my card?") == exact_key("how do i  locate my card")
    True
    """
    return normalised(text)


def accentless_key(text: str) -> str:
    """The exact key without the accents of Latin and Greek letters, and the dots of a Cyrillic io.

    Marks of other scripts are letters or vowels of their own, and stay.

    Examples
    --------
    >>> accentless_key("Où est le Café?") == accentless_key("ou est le cafe")
    True
    >>> accentless_key("мой") == accentless_key("мои")
    False
    """
    apart = unicodedata.normalize("NFD", exact_key(text))
    return unicodedata.normalize("NFC", _ACCENTS.sub(r"\1", apart))


# Marks behind a letter of Latin or Greek (in NFD), and the two dots of ё.
_ACCENTS = re.compile(r"([a-z\u0250-\u02af\u0370-\u03ff])[\u0300-\u036f]+|(?<=\u0435)\u0308")


def bag_keys(texts: Iterable[str], language: str = DEFAULT_LANGUAGE) -> list[str]:
    """The stems of each text's words in the order of their letters: order and endings are gone.

    Words of a language that has no stemmer stay as they are.

    Examples
    --------
    >>> bag_keys(["Cards lost", "lost card!"])
    ['card lost', 'card lost']
    """
    # A stemmer is not safe to share between threads, and making one takes microseconds.
    algorithm = stemmer_of(language)
    stems = Stemmer.Stemmer(algorithm).stemWords if algorithm else list
    return [" ".join(sorted(stems(normalised(text).split()))) for text in texts]
