"""CHANGELOG.md of a release: what it changed, and what those before it did."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# --- CHANGELOG.md of a release: what it changed, and what those before it did.

HEADING = "# Changelog"


def changelog(
    *,
    version: str,
    date: str,
    notes: str,
    parent: str | None,
    reasons: Sequence[str],
    diff: Mapping[str, Any],
    before: str = "",
) -> str:
    """The changelog with this release first; `before` is the one of the release before it."""
    parts = [HEADING, f"## {version} ({date})", *_entry(notes, parent, reasons, diff)]
    earlier = before.removeprefix(HEADING).strip()
    return "\n\n".join([*parts, *([earlier] if earlier else [])]) + "\n"


def _entry(
    notes: str, parent: str | None, reasons: Sequence[str], diff: Mapping[str, Any]
) -> Iterator[str]:
    if notes.strip():
        yield notes.strip()
    if parent is None:
        yield "The first release."
        return
    yield f"Since {parent}: {'; '.join(reasons)}."
    rows = [*diff.get("by_split", {}).items(), *diff.get("by_slice", {}).items()]
    n_splits = len(diff.get("by_split", {}))
    if rows:
        yield "\n".join(_table(rows, n_splits))


def _table(rows: Sequence[tuple[str, Mapping[str, Any]]], n_splits: int) -> Iterator[str]:
    yield "| labels of | added | changed | removed |"
    yield "|---|---:|---:|---:|"
    for place, (name, counts) in enumerate(rows):
        kind = "split" if place < n_splits else "slice"
        numbers = " | ".join(f"{counts[what]:,}" for what in ("added", "changed", "removed"))
        yield f"| {kind} {in_cell(name)} | {numbers} |"


def in_cell(text: str) -> str:
    r"""A text in a cell of a Markdown table.

    >>> in_cell("a|b")
    'a\\|b'
    """
    return " ".join(text.replace("|", "\\|").split())


# --- How to cite a release: the BibTeX its owner gave, or one made of what is known.

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
ENTRY = re.compile(r"^\s*@\w+\s*\{", re.MULTILINE)


def escaped(text: str) -> str:
    r"""The text as BibTeX prints it, on one line.

    >>> escaped("Q&A: 100% {of} it_1")
    'Q\\&A: 100\\% \\{of\\} it\\_1'
    """
    return "".join(SPECIAL.get(letter, letter) for letter in " ".join(text.split()))


def bibtex(
    *,
    slug: str,
    title: str,
    version: str,
    year: int,
    authors: Sequence[str],
    citation: str = "",
) -> str:
    """CITATION.bib: `citation` if that is BibTeX; else an entry of its own, with it as a note."""
    if ENTRY.search(citation):
        return citation.strip() + "\n"
    fields = {
        # Twice in braces, so that no style changes the case of its letters.
        "title": f"{{{escaped(title)}}}",
        "author": " and ".join(f"{{{escaped(name)}}}" for name in authors),
        "year": str(year),
        "version": version,
        "note": escaped(citation),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{slug}-{version},", *lines, "}"]) + "\n"
