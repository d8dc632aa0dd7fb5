"""Values of clicks as grades: cut points, and who has evidence enough."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchwright.clicks.errors import CutsError
from benchwright.clicks.models import Fitted, Pair, Value, fitted
from benchwright.clicks.pages import Page, Reading, Tell, told_pages
from benchwright.families.normalising import normalised
from benchwright.logs.distinct import query_id
from benchwright.recipes.clicks import LEAST, Model
from benchwright.sandbox import reader

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


@dataclass(frozen=True)
class Grading:
    """How clicks become grades; without cuts, `CUTS` of the model."""

    model: Model = Model.COEC
    least: int = LEAST.default
    cuts: tuple[float, ...] = ()

    @property
    def thresholds(self) -> tuple[float, ...]:
        return self.cuts or CUTS[self.model]


@dataclass(frozen=True)
class Graded:
    """The grades of a log; `n_other` pages asked for none of the queries that are known."""

    grading: Grading
    grades: list[ClickGrade]
    fitted: Fitted
    n_other: int

    @property
    def facts(self) -> dict[str, Any]:
        """How the grades came about, as plain values."""
        counts = Counter(grade.grade for grade in self.grades)
        return {
            "kind": "click",
            "model": self.grading.model.value,
            "cuts": list(self.grading.thresholds),
            "least": self.grading.least,
            "n_pairs": len(self.fitted.values),
            "n_graded": len(self.grades),
            "n_sure": sum(grade.is_sure for grade in self.grades),
            "grades": dict(sorted(counts.items())),
            "priors": list(self.fitted.priors),
            "continuing": self.fitted.continuing,
            "n_rounds": self.fitted.n_rounds,
        }


def grade_pages(
    pages: Iterable[Page], grading: Grading, ids: Mapping[str, str] | None = None
) -> Graded:
    """Grade what pages of results show.

    `ids` are {normalised words of a query: its id}; other queries are left out. Without it each
    query has the id that `benchwright sample` gives to its words.
    """
    left_out: list[str] = []
    values = fitted(_with_ids(pages, ids, left_out), grading.model)
    graded = list(grades(values, least=grading.least, cuts=grading.thresholds))
    return Graded(grading, graded, values, len(left_out))


def _with_ids(
    pages: Iterable[Page], ids: Mapping[str, str] | None, left_out: list[str]
) -> Iterator[Page]:
    for page in pages:
        key = normalised(page.query)
        qid = query_id(key) if ids is None else ids.get(key, "")
        if qid and key:
            yield replace(page, query=qid)
        else:
            left_out.append(qid)


def ids_of(queries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """{normalised words: id} of (words, id); of equal words the first counts."""
    ids: dict[str, str] = {}
    for text, qid in queries:
        ids.setdefault(normalised(text), qid)
    return ids


@reader
def rows_apart(
    paths: Sequence[Path],
    names: Sequence[str],
    folder: Path,
    grading: Grading,
    queries: Iterable[tuple[str, str]],
    *,
    columns: Mapping[str, str],
    actions: Sequence[str],
    progress: Tell,
) -> tuple[list[tuple[str, str, int]], dict[str, Any]]:
    """(query, document, grade) of logs from outside, and how they came about.

    `queries` are (words, id) of those that are known, as `ids_of` takes them; `folder` is an empty
    one for what is sorted.

    Raises
    ------
    ClickColumnsError, NoClicksError
    """
    reading = Reading()
    pages = told_pages(
        paths, folder, reading, names=names, columns=columns, actions=actions, progress=progress
    )
    graded = grade_pages(pages, grading, ids_of(queries))
    rows = [(grade.query, grade.doc, grade.grade) for grade in graded.grades]
    return rows, graded.facts | reading.facts | {"n_other": graded.n_other}


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
