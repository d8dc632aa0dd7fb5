"""The part of a document that says most about the words of a query."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from benchwright.texts.words import Match

# A sentence ends with its mark and white space, an ideographic one without; so does a line.
IDEOGRAPHIC = (
    "\N{IDEOGRAPHIC FULL STOP}\N{FULLWIDTH EXCLAMATION MARK}"
    "\N{FULLWIDTH QUESTION MARK}\N{FULLWIDTH SEMICOLON}"
)
SENTENCE_END = re.compile(rf"[.!?…:;]\s+|[{IDEOGRAPHIC}]|\n\s*")
LONGEST_PIECE = 200


@dataclass(frozen=True, slots=True)
class Span:
    """`text[start:end]`."""

    start: int
    end: int


def best_excerpt(text: str, matches: Sequence[Match], *, n_chars: int) -> Span:
    """The sentences, up to `n_chars` in all, that have most of the query's words.

    A word counts once, more where fewer sentences have it, and a little more where it comes again;
    of equal parts the first is taken. Without any match it is the beginning.
    """
    if len(text) <= n_chars:
        return Span(0, len(text))
    if not matches:
        text = text[: n_chars + LONGEST_PIECE]
    pieces = _pieces(text)
    terms = _terms_of(pieces, matches)
    first, last = _best(pieces, terms, n_chars)
    first, last = _widened(pieces, first, last, n_chars)
    return _trimmed(text, pieces[first].start, pieces[last].end)


def _pieces(text: str) -> list[Span]:
    """Sentences; those that are too long in parts, between words where there are spaces."""
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    pieces, start = [], 0
    for end in [*ends, len(text)]:
        while end - start > LONGEST_PIECE:
            cut = text.rfind(" ", start + 1, start + LONGEST_PIECE) + 1 or start + LONGEST_PIECE
            pieces.append(Span(start, cut))
            start = cut
        if end > start:
            pieces.append(Span(start, end))
            start = end
    return pieces


def _terms_of(pieces: Sequence[Span], matches: Sequence[Match]) -> dict[int, list[int]]:
    """{number of a piece: the terms that begin in it}, in order, pieces without any left out."""
    starts = [piece.start for piece in pieces]
    terms: dict[int, list[int]] = {}
    for match in matches:
        terms.setdefault(bisect_right(starts, match.start) - 1, []).append(match.term)
    return terms


def _best(pieces: Sequence[Span], terms_at: dict[int, list[int]], n_chars: int) -> tuple[int, int]:
    """The first and the last piece of the best part that begins and ends with a match."""
    n_with: dict[int, int] = {}
    for terms in terms_at.values():
        for term in set(terms):
            n_with[term] = n_with.get(term, 0) + 1
    weights = {term: 1 + log(len(pieces) / n) for term, n in n_with.items()}
    matching = list(terms_at)
    best, best_score = (0, 0), 0.0
    counts: dict[int, int] = dict.fromkeys(n_with, 0)
    end = 0
    for place, first in enumerate(matching):
        while end < len(matching) and _fits(pieces, first, matching[end], n_chars):
            for term in terms_at[matching[end]]:
                counts[term] += 1
            end += 1
        score = sum(weights[term] * (1.5 - 0.5 / n) for term, n in counts.items() if n)
        if score > best_score + 1e-9:
            best, best_score = (first, matching[end - 1]), score
        for term in terms_at[matching[place]]:
            counts[term] -= 1
    return best


def _fits(pieces: Sequence[Span], first: int, last: int, n_chars: int) -> bool:
    return first == last or pieces[last].end - pieces[first].start <= n_chars


def _widened(pieces: Sequence[Span], first: int, last: int, n_chars: int) -> tuple[int, int]:
    """With what stands around it, as much as there is room for: one sentence before, then after."""
    if first and _fits(pieces, first - 1, last, n_chars):
        first -= 1
    while last + 1 < len(pieces) and _fits(pieces, first, last + 1, n_chars):
        last += 1
    while first and _fits(pieces, first - 1, last, n_chars):
        first -= 1
    return first, last


def _trimmed(text: str, start: int, end: int) -> Span:
    excerpt = text[start:end]
    return Span(end - len(excerpt.lstrip()), start + len(excerpt.rstrip()))
