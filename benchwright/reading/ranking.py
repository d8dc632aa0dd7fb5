"""The order of a query's results, and what decides where scores are equal."""

from array import array
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Protocol, TypeVar

from benchwright.errors import CutoffError, ExpectedDepthError, UnknownTieRuleError


class Scored(Protocol):
    """A document with its score; `RunRow` is one."""

    @property
    def docid(self) -> bytes: ...

    @property
    def score(self) -> float: ...


Row = TypeVar("Row", bound=Scored)


def ranked(rows: Iterable[Row], ties: str = "trec") -> list[Row]:
    """The results of one query, best first; `rows` is in the order of the file.

    Scores descend. Where they are equal, `trec` puts the greater docid (as bytes) first,
    `docid-asc` the smaller, `file` the earlier row. `trec9` is `trec` with scores compared as
    32-bit floats, as trec_eval did up to version 9. `expected` ranks as `trec` does: who takes the
    mean over the orders of a tie needs its place, not the order inside.

    Raises
    ------
    UnknownTieRuleError
        If `ties` is none of these.

    Examples
    --------
    >>> from benchwright.formats.trec import RunRow
    >>> rows = [RunRow(1, b"q", b"d1", 1.0), RunRow(2, b"q", b"d2", 1.0)]
    >>> [row.docid for row in ranked(rows)]
    [b'd2', b'd1']
    """
    check_ties(ties)
    return TIE_RULES[ties](rows)


def check_ties(ties: str, depth: int | None = None) -> None:
    """Refuse a tie rule that is none, a depth below 1, and a depth that could cut a tie in two.

    Raises
    ------
    UnknownTieRuleError, CutoffError, ExpectedDepthError
        In that order.
    """
    if ties not in TIE_RULES:
        raise UnknownTieRuleError(ties=ties, known=", ".join(TIE_RULES))
    if depth is not None and depth < 1:
        raise CutoffError(cutoff=depth)
    if depth is not None and ties == "expected":
        raise ExpectedDepthError(depth=depth)


def _trec(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.score, row.docid), reverse=True)


def _trec9(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (_float32(row.score), row.docid), reverse=True)


def _docid_ascending(rows: Iterable[Row]) -> list[Row]:
    return _file(sorted(rows, key=lambda row: row.docid))


def _file(rows: Iterable[Row]) -> list[Row]:
    # Stable, also when reversed: rows of one score stay as they were.
    return sorted(rows, key=lambda row: row.score, reverse=True)


def _float32(score: float) -> float:
    return array("f", [score])[0]


TIE_RULES: Mapping[str, Callable[[Iterable[Row]], list[Row]]] = MappingProxyType(
    {
        "trec": _trec,
        "trec9": _trec9,
        "docid-asc": _docid_ascending,
        "file": _file,
        "expected": _trec,
    }
)
