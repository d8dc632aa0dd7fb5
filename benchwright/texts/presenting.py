"""What a document looks like on the labeling page: its excerpt, its full text, the query's words.

Everything here is chosen by the words of query and document alone: nothing a pooled system said.
"""

from collections import Counter
from dataclasses import dataclass
from html import escape

from benchwright.texts.directions import direction_of
from benchwright.texts.excerpts import best_excerpt
from benchwright.texts.highlighting import marked, marked_text
from benchwright.texts.reflowing import reflowed
from benchwright.texts.rendering import normal_text, plain_html, rendered, text_of
from benchwright.texts.words import Finder, finder

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
