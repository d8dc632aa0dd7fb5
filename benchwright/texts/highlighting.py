"""The words of a query marked in HTML, inside text alone."""

from collections import Counter
from collections.abc import Iterable
from html import escape, unescape

from benchwright.texts.rendering import TAG
from benchwright.texts.words import Finder, Match


def marked(html: str, find: Finder, counts: Counter[int] | None = None) -> str:
    """HTML of `rendering` with `<mark>` around each word of the query; counts go by term.

    Words that overlap or touch share a mark. A word that a tag divides is left as it is.
    """
    if not find.terms:
        return html
    parts = TAG.split(html)
    for place in range(0, len(parts), 2):
        text = unescape(parts[place])
        if find.is_in(text):
            parts[place] = marked_text(text, find, counts)
    return "".join(parts)


def marked_text(text: str, find: Finder, counts: Counter[int] | None = None) -> str:
    """A text as HTML, the words of the query marked."""
    matches = find.matches(text)
    if counts is not None:
        counts.update(match.term for match in matches)
    pieces, done = [], 0
    for start, end in _joined(matches):
        pieces += [escape(text[done:start]), "<mark>", escape(text[start:end]), "</mark>"]
        done = end
    return "".join([*pieces, escape(text[done:])])


def _joined(matches: Iterable[Match]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for start, end, _ in matches:
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans
