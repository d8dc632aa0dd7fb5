"""Documents as safe HTML: what a person needs to read them, and nothing that acts or loads.

What comes out has text and a few tags in a known shape: no attribute but table spans, the number
a list starts from and the direction, so that `<` and `>` stand in tags alone.
"""

import re
from collections.abc import Iterator
from functools import cache
from html import escape, unescape
from typing import Any

import nh3
from markdown_it import MarkdownIt

from benchwright.texts.reflowing import is_set_in_lines

TAG = re.compile(r"(<[^>]*>)")
TAG_NAME = re.compile(r"</?([a-z0-9]+)")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


BLOCKS = _names(
    """blockquote caption dd div dl dt figcaption figure h3 h4 h5 h6 hr li ol p pre table tbody td
    tfoot th thead tr ul"""
)
CELLS = frozenset({"td", "th"})
INLINE = _names(
    """abbr b bdi bdo br cite code del dfn em i ins kbd q rp rt ruby s samp small span strong sub
    sup u var wbr"""
)
HEADINGS = _names("h1 h2 h3 h4 h5 h6")
# The page has headings of its own above the document's.
FIRST_HEADING = 3
# What is inside these is no text of the document.
DROPPED_WHOLE = _names(
    """script style noscript template iframe frame frameset noframes object embed applet svg math
    head title textarea select datalist audio video canvas"""
)
SPAN = re.compile(r"[1-9][0-9]?")
ATTRIBUTES = {
    "*": {"dir"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "ol": {"start"},
}
WHITE = re.compile(r"\s+")
# Left in by careless conversion; no browser shows them.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f]")


def rendered(text: str, text_format: str) -> str:
    """Safe HTML of a text that is `plain`, `markdown` or `html`."""
    if text_format == "markdown":
        return sanitised(_markdown().render(text))
    if text_format == "html":
        return sanitised(text)
    return plain_html(text)


def guideline_html(text: str) -> str:
    """A guideline, which is Markdown, as safe HTML; its line breaks stay, as they were typed."""
    return sanitised(_markdown(breaks=True).render(text))


def plain_html(text: str) -> str:
    """Paragraphs where lines are empty, line breaks where lines end; all other characters kept.

    Code and tables are set as they are.
    """
    return "".join(
        f"<pre>{escape(part)}</pre>" if is_set_in_lines(part) else f"<p>{_lines(escape(part))}</p>"
        for part in paragraphs(text)
    )


def paragraphs(text: str) -> list[str]:
    """The parts of a text between empty lines, without the line breaks around them."""
    whole = normal_text(text).strip("\n")
    return [part for part in re.split(r"\n(?:[^\S\n]*\n)+", whole) if part.strip()]


def normal_text(text: str) -> str:
    """One kind of line break, no characters that nothing shows."""
    return CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _lines(escaped: str) -> str:
    return escaped.replace("\n", "<br>")


def sanitised(html: str) -> str:
    """The HTML with the tags of an allow list alone; links and images leave their text."""
    clean = nh3.clean(
        html,
        tags=set(BLOCKS | INLINE | HEADINGS),
        clean_content_tags=set(DROPPED_WHOLE),
        attributes=ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes=set(),
        link_rel=None,
        strip_comments=True,
    )
    return "".join(_tidy(TAG.split(clean)))


def _attribute(tag: str, name: str, value: str) -> str | None:
    if name == "dir":
        return value.lower() if value.lower() in ("ltr", "rtl", "auto") else None
    return value if SPAN.fullmatch(value) else None


def _tidy(parts: list[str]) -> Iterator[str]:
    """Headings below the page's own; white space as HTML means it, so that no style shows more."""
    is_pre, is_block = False, True
    outline = _Outline()
    for number, part in enumerate(parts):
        if number % 2:
            name = tag_name(part)
            is_pre = (part[1] != "/") if name == "pre" else is_pre
            is_block = name in BLOCKS or name in HEADINGS
            yield outline.moved(part, name) if name in HEADINGS else part
        elif is_pre:
            yield part
        else:
            line = WHITE.sub(" ", CONTROLS.sub("", part))
            yield line.lstrip(" ") if is_block else line


class _Outline:
    """Gives headings new levels: none is skipped, whatever the document began or went on with."""

    def __init__(self) -> None:
        self.above: list[str] = []

    def moved(self, tag: str, name: str) -> str:
        if tag[1] != "/":
            self.above = [*(other for other in self.above if other < name), name]
        level = min(FIRST_HEADING + len(self.above) - 1, 6)
        return tag.replace(name, f"h{level}", 1)


def tag_name(tag: str) -> str:
    match = TAG_NAME.match(tag)
    return match[1] if match else ""


def text_of(html: str) -> str:
    """The text of HTML made here: blocks as paragraphs, cells apart by a tab."""
    pieces: list[str] = []
    for number, part in enumerate(TAG.split(html)):
        if number % 2 == 0:
            pieces.append(unescape(part))
        else:
            pieces.append(_gap(tag_name(part), part[1] == "/"))
    text = "".join(pieces)
    return re.sub(r"\n{2,}", "\n\n", text).strip("\n\t")


def _gap(name: str, is_end: bool) -> str:
    if name == "br":
        return "\n"
    if name in CELLS:
        return "\t" if is_end else ""
    if name in ("tr", "li"):
        return "\n" if is_end else ""
    return "\n\n" if name in BLOCKS else ""


@cache
def _markdown(breaks: bool = False) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": breaks}).enable(
        ["table", "strikethrough"]
    )
    parser.add_render_rule("image", _image)
    return parser


def _image(self: Any, tokens: Any, idx: int, options: Any, env: Any) -> str:
    """An image is not loaded: its description stands in its place."""
    return escape(self.renderInlineAsText(tokens[idx].children or [], options, env))
