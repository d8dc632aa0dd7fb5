"""The words of a query, and where a text has them: by stems, or by pairs of characters.

A word counts as the query's where both have one stem (Snowball's, for languages it knows) or are
equal but for case. Scripts without spaces between words are matched by pairs of characters, as is
Hangul, whose particles stick to the word.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import Stemmer

from benchwright.languages import code_of, stemmer_of

# --- Words of a query that say nothing of what is wanted, in the languages queries come in most.
# Few on purpose: a word that may carry meaning ("can", "will", "not") is better marked than missed.

ENGLISH = """a about an and any are as at be been being but by did do does doing for from get had
has have having how i if in into is it its me my of on or our so some that the their
them then there these they this those to was we were what when where which while who
whom whose why with you your"""
GERMAN = """als am an auch auf aus bei bin bis das dass dem den der des die du ein eine einem
einen einer eines er es für hat ich im in ist kann man mein mich mir mit nach oder
sich sie sind über um und uns von vor war warum was wer wie wir wird wo zu zum zur"""
FRENCH = """au aux avec ce ces cet cette comment dans de des du elle elles en est et il ils je la
le les leur leurs lui ma mes mon nous on ou où par pas pour pourquoi qu que quel
quelle quelles quels qui sa se ses son sont sur ta tes ton tu un une vos votre vous y"""
SPANISH = """al como cómo con cual cuál cuando de del donde dónde el ella en es esta este esto la
las le lo los me mi para por que qué quién se sin son su sus un una unas unos y yo"""
ITALIAN = """ai al alla alle che chi come con da dal dalla dei del della delle di dove e gli ha ho
i il in io la le lo ma mi nel nella o per quale quando questo si sono su sul sulla un
una uno è"""
PORTUGUESE = """ao aos as com como da das de do dos e em eu é na nas no nos o onde os ou para pela
pelo por qual quando que quem se seu sua um uma à às"""
DUTCH = """aan als bij dat de den die dit door een en er het hij hoe ik in is je kan maar met
mijn naar of om op te tot uit van voor waar waarom was wat we welke wie wij zijn"""
# ruff: noqa: RUF001 -- these letters are Cyrillic
RUSSIAN = """а без в во для до и из или к как какой кто ли мне мой на о об от по при с со так то у
что чтобы это я"""

FUNCTION_WORDS = {
    "de": frozenset(GERMAN.split()),
    "en": frozenset(ENGLISH.split()),
    "es": frozenset(SPANISH.split()),
    "fr": frozenset(FRENCH.split()),
    "it": frozenset(ITALIAN.split()),
    "nl": frozenset(DUTCH.split()),
    "pt": frozenset(PORTUGUESE.split()),
    "ru": frozenset(RUSSIAN.split()),
}


# --- The words of a query, and where a text has them: by stems, or by pairs of characters.

# Thai, Lao, Burmese, Khmer; kana; Han; Hangul. Each range is a run of its own: words of Japanese
# mostly begin and end where its scripts change.
SPACELESS = (
    "\u0e00-\u0eff",
    "\u1000-\u109f",
    "\u1780-\u17ff",
    "\u3041-\u309f",
    "\u30a0-\u30ff",
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "\uac00-\ud7a3",
)
HIRAGANA = re.compile("[\u3041-\u309f]{1,2}")
CURLY = "\N{RIGHT SINGLE QUOTATION MARK}"


class Match(NamedTuple):
    """Where a text has a word of the query: `text[start:end]`; `term` is its place in the query."""

    start: int
    end: int
    term: int


class _Patterns(NamedTuple):
    token: re.Pattern[str]
    plain: re.Pattern[str]
    run: re.Pattern[str]
    letter: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Made when first needed: Python's `\\w` lacks the marks that belong to Indic letters."""
    every = "".join(chr(c) for c in range(0x300, 0x10000) if unicodedata.category(chr(c))[0] == "M")
    apart = "".join(SPACELESS)
    letter, mark = f"[^\\W_{apart}]", f"[{_ranges(every)}]"
    # An English clitic is part of its word; elsewhere an apostrophe ends one.
    clitic = f"(?:['{CURLY}](?:[sStTdDmM]|re|ve|ll)(?!\\w))?"
    return _Patterns(
        token=re.compile(f"{letter}+(?:{mark}+{letter}*)*{clitic}"),
        plain=re.compile(f"[^\\W_]+{clitic}", re.ASCII),
        run=re.compile("|".join(f"[{script}]+" for script in SPACELESS)),
        letter=re.compile(f"{letter}|{mark}"),
    )


def _ranges(characters: str) -> str:
    """Sorted characters as the inside of a class, neighbours as a range."""
    starts = [c for c in characters if chr(ord(c) - 1) not in characters]
    ends = [c for c in characters if chr(ord(c) + 1) not in characters]
    return "".join(f"{start}-{end}" for start, end in zip(starts, ends, strict=True))


@dataclass(frozen=True)
class Finder:
    """Finds the words of a query in one document; made by `finder`."""

    terms: tuple[str, ...]
    forms: dict[str, int]  # how this document writes a word: the place of its term
    word: re.Pattern[str] | None
    pairs: dict[str, int]
    pair: re.Pattern[str] | None

    def is_in(self, text: str) -> bool:
        """Whether it is worth looking for matches; quick, and true a little too often."""
        return any(
            pattern is not None and pattern.search(text) for pattern in (self.word, self.pair)
        )

    def matches(self, text: str) -> list[Match]:
        """Every place, by its start; pairs of characters may overlap."""
        matches = [*self._words(text), *self._pairs(text)]
        return sorted(matches) if self.pair else matches

    def _words(self, text: str) -> Iterable[Match]:
        if self.word is None:
            return
        letter = _patterns().letter
        for match in self.word.finditer(text):
            start, end = match.span()
            # Looked at here: a pattern that begins with a look behind is many times slower.
            if (start and letter.match(text, start - 1)) or letter.match(text, end):
                continue
            yield Match(start, end, self.forms[match[0]])

    def _pairs(self, text: str) -> Iterable[Match]:
        if self.pair is None:
            return
        for match in self.pair.finditer(text):
            yield Match(*match.span(1), self.pairs[match[1]])


def finder(query: str, *, lang: str, text: str) -> Finder:
    """A finder of the query's words in a document of which `text` is all.

    Function words ("the", "of") are no words of the query unless it has no others.
    """
    stem = _Stems(stemmer_of(lang))
    idle = FUNCTION_WORDS.get(code_of(lang) or "en", frozenset())
    words = _once(_tokens(query), stem)
    telling_words = {key: word for key, word in words.items() if word.casefold() not in idle}
    telling_words = telling_words or words
    pairs = _pairs_of(query)
    if pairs and telling_words is words:
        # A particle or two in another script beside them.
        telling_words = {}
    terms = _in_order(query, [*telling_words.values(), *pairs])
    places = {term: place for place, term in enumerate(terms)}
    of_key = {key: places[word] for key, word in telling_words.items()}
    words_given = _said(text, of_key, lang) if of_key else []
    forms = {
        form: of_key[key]
        for form, key in zip(words_given, stem(words_given), strict=True)
        if key in of_key
    }
    of_pair = {pair: places[pair] for pair in pairs}
    return Finder(terms, forms, _any_of(forms), of_pair, _any_of(of_pair, overlapping=True))


def _tokens(text: str) -> list[str]:
    patterns = _patterns()
    return (patterns.plain if text.isascii() else patterns.token).findall(text)


def _said(text: str, keys: Iterable[str], lang: str) -> list[str]:
    """The different words of a text, without those that cannot have one of the keys."""
    words = set(_tokens(text))
    if code_of(lang) == "en":
        # An English stem begins as its words do; most words need not be stemmed.
        first = tuple({start for key in keys for start in (key[:1], key[:1].upper())})
        return [word for word in words if word.startswith(first) or not word[0].isascii()]
    return list(words)


def _once(words: list[str], stem: "_Stems") -> dict[str, str]:
    """{key: the first word of the query that has it}."""
    first_of: dict[str, str] = {}
    for key, word in zip(stem(words), words, strict=True):
        first_of.setdefault(key, word)
    return first_of


def _pairs_of(query: str) -> list[str]:
    pairs: dict[str, None] = {}
    for run in _patterns().run.findall(query):
        if HIRAGANA.fullmatch(run):
            continue  # a particle
        pairs |= dict.fromkeys([run] if len(run) < 2 else map("".join, pairwise(run)))
    return list(pairs)


def _in_order(query: str, terms: list[str]) -> tuple[str, ...]:
    return tuple(sorted(terms, key=query.index))


def _any_of(strings: Iterable[str], overlapping: bool = False) -> re.Pattern[str] | None:
    """A pattern of whole strings, the longest that fits; overlapping ones are its group 1."""
    ordered = sorted(strings, key=lambda string: (-len(string), string))
    if not ordered:
        return None
    either = "|".join(map(re.escape, ordered))
    return re.compile(f"(?=({either}))" if overlapping else either)


class _Stems:
    """The keys of words: equal keys are one word. Not shared: a stemmer serves one thread."""

    def __init__(self, algorithm: str | None) -> None:
        self.stemmer = Stemmer.Stemmer(algorithm) if algorithm else None

    def __call__(self, words: list[str]) -> list[str]:
        folded = [
            word.lower() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()
            for word in words
        ]
        if self.stemmer is None:
            return folded
        return list(self.stemmer.stemWords([word.replace(CURLY, "'") for word in folded]))
