"""What a document looks like on the labeling page: its excerpt, its full text, the query's words.

Everything here is chosen by the words of query and document alone: nothing a pooled system said.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape, unescape

from benchwright.texts.directions import direction_of
from benchwright.texts.excerpts import best_excerpt
from benchwright.texts.reflowing import reflowed
from benchwright.texts.rendering import TAG, normal_text, plain_html, rendered, text_of
from benchwright.texts.words import Finder, Match, finder

__all__ = ["EXCERPT_CHARS", "WHOLE_CHARS", "Presented", "TermCount", "direction_of", "presented"]

# A document up to this length is shown whole; of a longer one an excerpt comes first.
WHOLE_CHARS, EXCERPT_CHARS = 2500, 700


@dataclass(frozen=True, slots=True)
class TermCount:
    """A word of the query, as the query has it, and how often the document has it."""

    term: str
    count: int


@dataclass(frozen=True, slots=True)
class Presented:
    """A document as safe HTML; `excerpt_html` is all of it where `is_whole`."""

    title_html: str
    excerpt_html: str
    full_html: str
    is_whole: bool
    n_chars: int
    terms: tuple[TermCount, ...]


def presented(
    *,
    query: str,
    title: str,
    text: str,
    text_format: str,
    lang: str,
    line_breaks: str = "auto",
) -> Presented:
    """The document for a labeling page, sanitised, the query's words marked.

    `text_format` is `plain`, `markdown` or `html`; `lang` a BCP 47 tag, or empty; `line_breaks`
    what the single line breaks of a plain text are. `n_chars` counts what a person reads, not the
    marks of the format.
    """
    if text_format == "plain":
        text = reflowed(normal_text(text).strip("\n"), line_breaks)
    html = rendered(text, text_format)
    text_shown = text if text_format == "plain" else text_of(html)
    title = normal_text(title)
    find = finder(query, lang=lang, text=f"{title}\n{text_shown}")
    counts: Counter[int] = Counter()
    title_html = marked_text(title, find, counts)
    full_html = marked(html, find, counts)
    is_whole = len(text_shown) <= WHOLE_CHARS
    return Presented(
        title_html=title_html,
        excerpt_html=full_html if is_whole else _excerpt(text_shown, find),
        full_html=full_html,
        is_whole=is_whole,
        n_chars=len(text_shown),
        terms=tuple(TermCount(term, counts[place]) for place, term in enumerate(find.terms)),
    )


def _excerpt(text_shown: str, find: Finder) -> str:
    """The best part as paragraphs; classes tell where the text goes on before or after it."""
    span = best_excerpt(text_shown, find.matches(text_shown), n_chars=EXCERPT_CHARS)
    html = marked(plain_html(text_shown[span.start : span.end]), find)
    before = span.start > 0
    after = span.end < len(text_shown.rstrip())
    classes = " ".join(
        name for name, is_so in (("goes-on-before", before), ("goes-on-after", after)) if is_so
    )
    return f'<div class="excerpt {escape(classes)}">{html}</div>'


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
