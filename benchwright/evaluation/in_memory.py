"""Scoring of dictionaries by the C extension: the quick way of `evaluating` for what is usual.

Usual are `{query: {document: value}}` of text or bytes, a table that becomes it without a document
twice in a query, and the measures of `KINDS` with no option but `rel`. Whatever is not, the caller
takes the long way, whose values are the same to the bit; so no message is written here.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from benchwright.errors import ColumnsError
from benchwright.measures.families import FAMILIES, Measure
from benchwright.reading.choosing import extension
from benchwright.reading.memory import ORDERED_TIES
from benchwright.reading.memory_columns import QRELS, RUN, Wanted, named_columns

if TYPE_CHECKING:
    from types import ModuleType

KINDS = (
    "nDCG",
    "DCG",
    "AP",
    "RR",
    "P",
    "R",
    "R_cap",
    "Success",
    "Rprec",
    "bpref",
    "Judged",
)
"""Families that the extension knows, in the order that it knows them in."""

TIES = tuple(ORDERED_TIES)
LARGEST = 2**31 - 1  # of a cutoff or a grade: what every C has room for


class Scored(NamedTuple):
    """Values by query and by measure, and of how many queries each measure is undefined.

    Of the columns, the first are of the measures and the others of `shares`, the judged shares
    down to each cutoff. Of `n_judged` queries with grades and `n_answered` in the run, `n_common`
    are both.
    """

    per_query: dict[Any, dict[str, float]]
    columns: Sequence[tuple[list[float], int]]
    shares: tuple[Measure, ...]
    n_judged: int
    n_answered: int
    n_common: int
    top_grade: int


def scored(
    qrels: Any, run: Any, measures: Sequence[Measure], *, ties: str, missing: str
) -> Scored | None:
    """The values of the measures, or None where something is not as usual."""
    native = _native()
    if native is None or ties not in TIES:
        return None
    cutoffs = {measure.cutoff: None for measure in measures}
    shares = tuple(Measure("Judged", cutoff) for cutoff in cutoffs)
    rows = [_row(measure, str(measure)) for measure in measures]
    rows += [_row(share, None) for share in shares]
    if None in rows:
        return None
    nested_qrels, nested_run = _nested(native, qrels, QRELS), _nested(native, run, RUN)
    if not isinstance(nested_qrels, dict) or not isinstance(nested_run, dict):
        return None
    if not any(nested_run.values()):
        return None  # nothing to score, which the long way says or takes
    measure_rows = tuple(cast("list[tuple[str | None, int, int, int]]", rows))
    # Since 3.12, Python's sum makes up for what additions lose.
    is_compensated = sys.version_info >= (3, 12)
    answer = native.score(
        nested_qrels, nested_run, measure_rows, TIES.index(ties), missing == "zero", is_compensated
    )
    if answer is None:
        return None
    per_query, columns, n_common, top_grade = answer
    n_judged, n_answered = len(nested_qrels), len(nested_run)
    return Scored(per_query, columns, shares, n_judged, n_answered, n_common, top_grade)


def _native() -> "ModuleType | None":
    """The extension, where extensions are to be used and it was built."""
    if extension() is None:
        return None
    try:
        return import_module("benchwright.evaluation._mappings")
    except ImportError:
        return None


def _row(measure: Measure, name: str | None) -> tuple[str | None, int, int, int] | None:
    """A measure as the extension takes it, or None where it does not know it."""
    cutoff = measure.cutoff or 0
    is_known = (
        measure.family in KINDS
        and {option for option, _ in measure.options} <= {"rel"}
        and isinstance(cutoff, int)
        and (cutoff or FAMILIES[measure.family].cutoff != "needed")
    )
    if not is_known or not 0 <= cutoff <= LARGEST or not 1 <= measure.rel <= LARGEST:
        return None
    return name, KINDS.index(measure.family), int(cutoff), measure.rel


def _nested(native: "ModuleType", rows: Any, wanted: Wanted) -> Any:
    """Columns as nested dictionaries; what has none, as it is."""
    if isinstance(rows, dict):
        return rows
    try:
        columns = named_columns(rows, wanted)
    except ColumnsError:
        return None
    return columns and native.nested(*columns)
