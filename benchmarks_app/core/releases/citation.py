"""How to cite a release: the BibTeX its owner gave, or one made of what is known."""

import re
from collections.abc import Sequence

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
    given: str = "",
    url: str = "",
) -> str:
    """CITATION.bib: `given` if that is BibTeX; else an entry of its own, with `given` as a note."""
    if ENTRY.search(given):
        return given.strip() + "\n"
    fields = {
        # Twice in braces, so that no style changes the case of its letters.
        "title": f"{{{escaped(title)}}}",
        "author": " and ".join(f"{{{escaped(name)}}}" for name in authors),
        "year": str(year),
        "version": version,
        "url": url,
        "note": escaped(given),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{slug}-{version},", *lines, "}"]) + "\n"
