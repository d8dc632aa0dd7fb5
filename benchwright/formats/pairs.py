"""Families, weights and slices of queries whose ids go to a site: as `side_tables` reads them, and
text.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from math import isfinite

from benchwright.errors import Problems
from benchwright.files.encodings import as_shown
from benchwright.formats.numbers import real
from benchwright.formats.side_tables import (
    FAMILY_COLUMNS,
    SLICE_COLUMNS,
    WEIGHT_COLUMNS,
    two_columns,
)
from benchwright.ids import id_problem
from benchwright.slices.errors import SliceNameError
from benchwright.slices.names import checked_name

Members = dict[str, dict[str, None]]
"""{slice: its queries}, both in the order of the file."""


def read_families(lines: Iterable[bytes], *, file: str, problems: Problems) -> dict[str, str]:
    """Return {query: its family}; a family may have any name."""
    family_of: dict[str, str] = {}
    for line, qid, family in _pairs(lines, FAMILY_COLUMNS, file, problems):
        reason = id_problem(family)
        if reason:
            problems.add(file, line, f"family '{family[:60]}': {reason}")
        elif family_of.setdefault(qid, family) != family:
            problem = (
                f"query '{qid}' is in family '{family_of[qid]}' and in '{family}'; keep one line"
            )
            problems.add(file, line, problem)
    return family_of


def read_weights(lines: Iterable[bytes], *, file: str, problems: Problems) -> dict[str, float]:
    """Return {query: what it stands for in a weighted mean}, each above 0."""
    weight_of: dict[str, float] = {}
    for line, qid, cell in _pairs(lines, WEIGHT_COLUMNS, file, problems):
        weight = real(cell)
        if weight is None or not (isfinite(weight) and weight > 0):
            problems.add(file, line, f"weight is '{cell[:40]}'; expected a number above 0")
        elif weight_of.setdefault(qid, weight) != weight:
            problems.add(file, line, f"query '{qid}' has another weight above; keep one line")
    return weight_of


def _pairs(
    lines: Iterable[bytes], columns: tuple[str, str], file: str, problems: Problems
) -> Iterator[tuple[int, str, str]]:
    for line, *cells in two_columns(lines, columns, file=file, problems=problems):
        try:
            qid, value = (cell.decode() for cell in cells)
        except UnicodeDecodeError:
            problems.add(file, line, "holds bytes that are not UTF-8; save the file as UTF-8")
            continue
        reason = id_problem(qid)
        if reason:
            problems.add(file, line, f"query id '{qid[:60]}': {reason}")
        else:
            yield line, qid, value


def read_slices(
    lines: Iterable[bytes],
    *,
    file: str,
    problems: Problems,
    known: Container[str],
    refusal: Callable[[str], str] = lambda name: "",
) -> Members:
    """The queries of each slice, of those that are `known`.

    Every line that is wrong is told; `refusal` says why a slice of a name takes no queries, if it
    does not.
    """
    members: Members = {}
    refused: dict[str, str] = {}
    for number, *cells in two_columns(lines, SLICE_COLUMNS, file=file, problems=problems):
        qid, named = map(as_shown, cells)
        name = named.strip()  # Blanks of Unicode, too, as wherever a slice is named.
        if name not in refused:
            refused[name] = _name_problem(name) or refusal(name)
        if refused[name]:
            problems.add(file, number, refused[name])
        elif qid not in known:
            text = f"query '{qid}' is not in the benchmark. Import it first, or drop the line."
            problems.add(file, number, text)
        else:
            inside = members.setdefault(name, {})
            if qid in inside:
                problems.warn(file, number, f"query '{qid}' was put into slice '{name}' before.")
            inside[qid] = None
    return members


def _name_problem(name: str) -> str:
    try:
        checked_name(name)
    except SliceNameError as error:
        return str(error)
    return ""
