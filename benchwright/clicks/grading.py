"""Values of clicks as grades: cut points, and who has evidence enough."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchwright.clicks.errors import CutsError
from benchwright.clicks.models import Fitted, Pair, Value
from benchwright.recipes.clicks import Model

MOST_GRADES = 10
# Conventions, not measurements: 1 is the clicks that a place gets anyway; of the probabilities, a
# tenth, three and six tenths.
CUTS: dict[Model, tuple[float, ...]] = {
    Model.COEC: (0.5, 1.0, 2.0),
    **dict.fromkeys((Model.CASCADE, Model.SDBN, Model.DBN), (0.1, 0.3, 0.6)),
}


@dataclass(frozen=True, slots=True)
class ClickGrade:
    """The grade of a pair; `is_sure` says that both ends of its interval have it too."""

    query: str
    doc: str
    grade: int
    is_sure: bool
    value: Value


def read_cuts(text: str) -> tuple[float, ...]:
    """Where the next grade begins, from a text such as `0.5,1,2`.

    Raises
    ------
    CutsError
        If they are no rising numbers above 0, or more than `MOST_GRADES`.

    Examples
    --------
    >>> read_cuts("0.5, 1,2")
    (0.5, 1.0, 2.0)
    """
    try:
        cuts = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise CutsError(given=text, most=MOST_GRADES) from None
    rises = all(low < high for low, high in zip((0.0, *cuts), cuts, strict=False))
    if not rises or len(cuts) > MOST_GRADES or cuts[-1] == float("inf"):
        raise CutsError(given=text, most=MOST_GRADES)
    return cuts


def grades(fitted: Fitted, *, least: float, cuts: Sequence[float]) -> Iterator[ClickGrade]:
    """The pairs with evidence enough, by query, the best first; ids break ties.

    The grade is how many of `cuts` the value reaches. A pair with less evidence than `least` is
    unjudged, never grade 0.
    """

    def place(item: tuple[Pair, Value]) -> tuple[str, float, str]:
        (query, doc), value = item
        return query, -value.value, doc

    for (query, doc), value in sorted(fitted.values.items(), key=place):
        if value.n >= least:
            grade, low, high = (
                bisect_right(cuts, number) for number in (value.value, value.low, value.high)
            )
            yield ClickGrade(query, doc, grade, low == high, value)
