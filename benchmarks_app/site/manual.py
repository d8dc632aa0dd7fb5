"""Chapters in Markdown as help beside a page, and as pages where `make docs` has not been run.

Where it has, and in a wheel, whole pages are those that it built (docs/adr/0045): `built_page`.
"""

import itertools
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html
from markdown_it import MarkdownIt
from markdown_it.token import Token

FOLDER: Path = settings.CARRIED_DIR / "docs"
DECISIONS, FIRST = "Decisions", "index"
NOT_OF_A_SLUG = re.compile(r"[^\w\- ]")
SCHEME = re.compile(r"[a-z]+:")


@dataclass(frozen=True)
class Heading:
    """A heading of the second level: its words, and where they are."""

    label: str
    anchor: str


@dataclass(frozen=True)
class Chapter:
    """A page of the documentation; `name` is its path below docs/ without `.md`."""

    name: str
    title: str
    summary: str
    html: str
    headings: tuple[Heading, ...]
    anchors: frozenset[str]


def chapter_names() -> dict[str, list[str]]:
    """Names of the chapters by group, decisions last; all but the first page."""
    groups = tomllib.loads((FOLDER / "contents.toml").read_text("utf-8"))
    # Notebooks become chapters when the documentation is built, and not before.
    groups = {
        group: written
        for group, names in groups.items()
        if (written := [name for name in names if (FOLDER / f"{name}.md").is_file()])
    }
    decisions = sorted(path.stem for path in (FOLDER / "adr").glob("*.md"))
    return {**groups, DECISIONS: [f"adr/{name}" for name in decisions]}


@cache
def all_names() -> frozenset[str]:
    return frozenset(all_names_in_order())


@cache
def titles() -> dict[str, str]:
    """The title of each chapter by its name: what its first line says."""
    return {name: _first_line(FOLDER / f"{name}.md").lstrip("# ") for name in all_names_in_order()}


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return next(lines, "").strip()


def all_names_in_order() -> list[str]:
    return [FIRST, *(name for names in chapter_names().values() for name in names)]


@cache
def chapter(name: str) -> Chapter:
    """The chapter of one of `all_names`; read once a process."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = parser.parse((FOLDER / f"{name}.md").read_text("utf-8"))
    headings = [
        (token.tag, _words(inline), token)
        for token, inline in itertools.pairwise(tokens)
        if token.type == "heading_open"
    ]
    anchors: dict[str, int] = {}
    for _, words, token in headings:
        token.attrSet("id", _anchor(words, anchors))
    sections = [
        Heading(words, str(token.attrGet("id"))) for tag, words, token in headings if tag == "h2"
    ]
    for token in tokens:
        for part in token.children or ():
            _point_into_the_site(part, PurePosixPath(name))
            if part.type == "text":
                part.content = part.content.removesuffix(".md")
        _let_scroll(token)
    _name_no_empty_header(tokens)
    title = next((words for tag, words, _ in headings if tag == "h1"), name)
    summary = next(
        (
            _words(inline)
            for token, inline in itertools.pairwise(tokens)
            if token.type == "paragraph_open"
        ),
        "",
    )
    html = parser.renderer.render(tokens, parser.options, {})
    return Chapter(name, title, summary, html, tuple(sections), frozenset(anchors))


def _words(inline: Token) -> str:
    """What a line says without its marks."""
    parts = inline.children or ()
    return "".join(" " if part.type == "softbreak" else part.content for part in parts)


def _anchor(words: str, counts: dict[str, int]) -> str:
    """The fragment that GitHub gives a heading, so that links work here and there."""
    slug = NOT_OF_A_SLUG.sub("", words.lower()).replace(" ", "-")
    number = counts.get(slug, 0)
    counts[slug] = number + 1
    if not number:
        return slug
    counts[f"{slug}-{number}"] = 1
    return f"{slug}-{number}"


def _point_into_the_site(part: Token, name: PurePosixPath) -> None:
    """A link to another chapter leads to its page; one to a file of the checkout is plain words."""
    target = str(part.attrGet("href") or "")
    if part.type != "link_open" or not target or target.startswith("#"):
        return
    if SCHEME.match(target):
        part.attrSet("rel", "noreferrer")
        return
    path, _, anchor = target.partition("#")
    url = _page_of(path, name)
    if url:
        part.attrSet("href", f"{url}#{anchor}" if anchor else url)
    else:
        del part.attrs["href"]


def _page_of(path: str, name: PurePosixPath) -> str:
    parts: list[str] = list(name.parent.parts)
    for step in PurePosixPath(path).parts:
        if step != "..":
            parts.append(step)
        elif parts:
            parts.pop()
        else:
            return ""  # Above docs/.
    target = "/".join(parts)
    if target == "openapi.json":
        return reverse("api-schema")
    page_name = target.removesuffix(".md")
    return reverse("docs-page", args=[page_name]) if page_name in all_names() else ""


def _let_scroll(token: Token) -> None:
    """What is wide scrolls by itself, by keyboard too."""
    if token.type in ("table_open", "fence", "code_block"):
        token.attrSet("tabindex", "0")


def _name_no_empty_header(tokens: list[Token]) -> None:
    """The corner of a table that says nothing is no header of anything."""
    for header, words, end in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if header.type == "th_open" and not words.content:
            header.tag = end.tag = "td"


def contents() -> dict[str, list[Chapter]]:
    """Every chapter by group."""
    return {group: [chapter(name) for name in names] for group, names in chapter_names().items()}


@cache
def built_files(folder: Path) -> dict[str, Path]:
    """What `make docs` made, by its path below docs/: nothing else is opened."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in files}


def built_page(name: str) -> str | None:
    """The HTML of a built page, the first one for an empty name; None where it is not built."""
    path = built_files(settings.DOCS_SITE).get(f"{name}/index.html".lstrip("/"))
    if path is None:
        return None
    link = format_html('<a class="button is-quiet is-small" href="{}">Site</a>', reverse("home"))
    return path.read_text("utf-8").replace("<!--site-->", link)
