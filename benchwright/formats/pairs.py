"""Two columns that say something of queries: `query-id TAB family`, `query-id TAB weight`."""

from collections.abc import Iterable
from math import isfinite

from benchwright.errors import Problems
from benchwright.formats.beir import numbered
from benchwright.formats.numbers import real
from benchwright.ids import id_problem

QUERY_HEADER = "query-id"


def read_families(lines: Iterable[bytes], *, file: str, problems: Problems) -> dict[str, str]:
    """Return {query: its family}; a family may have any name."""
    found: dict[str, str] = {}
    for line, qid, family in _pairs(lines, "family", file, problems):
        reason = id_problem(family)
        if reason:
            problems.add(file, line, f"family '{family[:60]}': {reason}")
        elif found.setdefault(qid, family) != family:
            told = f"query '{qid}' is in family '{found[qid]}' and in '{family}'; keep one line"
            problems.add(file, line, told)
    return found


def read_weights(lines: Iterable[bytes], *, file: str, problems: Problems) -> dict[str, float]:
    """Return {query: what it stands for in a weighted mean}, each above 0."""
    found: dict[str, float] = {}
    for line, qid, cell in _pairs(lines, "weight", file, problems):
        weight = real(cell)
        if weight is None or not (isfinite(weight) and weight > 0):
            problems.add(file, line, f"weight is '{cell[:40]}'; expected a number above 0")
        elif found.setdefault(qid, weight) != weight:
            problems.add(file, line, f"query '{qid}' has another weight above; keep one line")
    return found


def _pairs(
    lines: Iterable[bytes], column: str, file: str, problems: Problems
) -> Iterable[tuple[int, str, str]]:
    for line, content in numbered(iter(lines), file=file, problems=problems):
        try:
            cells = [cell.strip() for cell in content.decode().split("\t")]
        except UnicodeDecodeError as error:
            told = f"byte {error.start + 1} is not UTF-8; save the file as UTF-8"
            problems.add(file, line, told)
            continue
        if line == 1 and cells[0].lower() == QUERY_HEADER:
            continue
        reason = id_problem(cells[0])
        if len(cells) != 2 or not cells[1]:
            told = f"has {len(cells)} columns; expected 2 (query-id, {column}) separated by a TAB"
            problems.add(file, line, told)
        elif reason:
            problems.add(file, line, f"query id '{cells[0][:60]}': {reason}")
        else:
            yield line, cells[0], cells[1]
