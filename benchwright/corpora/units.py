"""Passages and the documents they are of: where a parent is said, and what is mixed up."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from benchwright.corpora.errors import UnknownUnitError
from benchwright.errors import Problems
from benchwright.formats.beir import CorpusRow

PARENT_KEYS = ("parent_id", "parent")
SEPARATOR = "#"
# How grades of documents come from those of passages: the highest.
RULE = "max-passage"
UNITS = ("passage", "document", "image")


class Parents(StrEnum):
    """Where the rows of a corpus say which document a passage is of."""

    STATED = "stated"  # a column, or parent_id or parent in the metadata
    IDS = "ids"  # X#Y is a passage of X, as in MIRACL


def read_unit(text: str) -> str:
    """Return a unit as it is stored.

    Raises
    ------
    UnknownUnitError
        If it is none.

    Examples
    --------
    >>> read_unit(" Passage ")
    'passage'
    """
    unit = text.strip().lower()
    if unit not in UNITS:
        raise UnknownUnitError(given=text, known=", ".join(UNITS))
    return unit


def parent_in_id(docid: str) -> str:
    """Return the document of a passage X#Y; "" where the id is not of that kind.

    Examples
    --------
    >>> parent_in_id("12#3"), parent_in_id("a#b#0"), parent_in_id("12"), parent_in_id("#3")
    ('12', 'a#b', '', '')
    """
    parent, _, passage = docid.rpartition(SEPARATOR)
    return parent if passage else ""


def stated_parent(metadata: Mapping[str, Any]) -> str:
    """Return the parent that a row's metadata names, or ""; a number is taken as an id."""
    for key in PARENT_KEYS:
        value = metadata.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return ""


def with_parents(
    rows: Iterable[CorpusRow], how: Parents, *, file: str, problems: Problems
) -> Iterator[CorpusRow]:
    """Yield the rows of a corpus of passages, each with its parent, also in its metadata.

    A corpus in which no row names a parent is taken as it is; one in which some do and some do not
    is a problem, and so is an id that is not X#Y where parents are to be read from ids.
    """
    first_with = first_without = ""
    for row in rows:
        parent = row.parent or stated_parent(row.metadata)
        if not parent and how == Parents.IDS:
            parent = parent_in_id(row.docid)
        if parent:
            first_with = first_with or row.docid
            stated = stated_parent(row.metadata) == parent
            more = row.metadata if stated else {**row.metadata, PARENT_KEYS[0]: parent}
            yield row._replace(parent=parent, metadata=more)
            continue
        if how == Parents.IDS:
            problem = f"'{row.docid}' is no passage id; expected DOCUMENT#PASSAGE in every row"
            problems.add(file, row.line, f"{problem}, as in 12#0. Mend it, or map a parent column.")
            continue
        is_first, first_without = not first_without, first_without or row.docid
        if first_with and is_first:
            problems.add(file, row.line, _lacking(row.docid, first_with))
        yield row
    if first_with and first_without and not problems.found:
        problems.add(file, 0, _lacking(first_without, first_with))


def _lacking(without: str, with_one: str) -> str:
    return (
        f"passage '{without}' names no parent, while '{with_one}' does; give every row one, or none"
    )
