"""Families and weights of queries whose ids go to a site: as `side_tables` reads them, and text."""

from collections.abc import Iterable, Iterator
from math import isfinite

from benchwright.errors import Problems
from benchwright.formats.numbers import real
from benchwright.formats.side_tables import FAMILY_COLUMNS, WEIGHT_COLUMNS, two_columns
from benchwright.ids import id_problem


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
