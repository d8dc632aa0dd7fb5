"""Does what two runs differ by survive other labels, other gains, other depths?"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import isnan, nan
from typing import Any

from benchwright.comparison.aligning import OVERALL
from benchwright.comparison.comparing import compare
from benchwright.measures.registry import parse_measure

GAINS = {"linear": "log2", "exponential": "exp-log2"}
RUN, REFERENCE = "run", "reference"
FEWEST = 2
ALPHA = 0.05


class Outcome(StrEnum):
    """What a difference shows at 5 %: better, worse, or neither."""

    BETTER = "better"
    WORSE = "worse"
    NOT_SHOWN = "not-shown"
    NOT_RECORDED = "not-recorded"


@dataclass(frozen=True, slots=True)
class Variant:
    """Another way to measure: values of both runs by query, or `missing`, the reason there is none.

    `group` is what was changed (labels, gain, depth, contested), `name` how.
    """

    group: str
    name: str
    measure: str
    values: Mapping[Any, tuple[float, float]]
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """The difference under one variant; `survives` compares with what stands (None: not recorded).

    `has_same_sign` is whether the difference goes the same way, `survives` whether the outcome is
    the same as well. Numbers are NaN where there is nothing to compute them of.
    """

    group: str
    name: str
    measure: str
    n_queries: int
    difference: float
    low: float
    high: float
    p: float
    outcome: Outcome
    has_same_sign: bool | None = None
    survives: bool | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """The difference as it stands, and under every variant."""

    base: Cell
    cells: tuple[Cell, ...]

    @property
    def n_recorded(self) -> int:
        """How many variants there are numbers for."""
        return sum(cell.survives is not None for cell in self.cells)

    @property
    def n_surviving(self) -> int:
        """Under how many of them the outcome is what stands."""
        return sum(cell.survives is True for cell in self.cells)


def other_measures(name: str) -> list[tuple[str, str, str]]:
    """(group, name, measure) of a measure's other gains and of depths one less and one more.

    Only nDCG and DCG have a gain; a measure without a cutoff has no depth.

    Examples
    --------
    >>> [measure for _, _, measure in other_measures("nDCG@10")]
    ["nDCG(dcg='exp-log2')@10", 'nDCG@9', 'nDCG@11']
    >>> other_measures("AP")
    []
    """
    measure = parse_measure(name)
    measures = []
    if measure.family in ("nDCG", "DCG"):
        for gain, dcg in GAINS.items():
            other = measure.with_options({"dcg": dcg})
            if str(other) != str(measure):
                measures.append(("gain", f"{gain} gain", str(other)))
    if isinstance(measure.cutoff, int):
        for cutoff in (measure.cutoff - 1, measure.cutoff + 1):
            if cutoff >= 1:
                other = measure._replace(cutoff=cutoff)
                measures.append(("depth", f"first {cutoff}", str(other)))
    return measures


def gain_of(name: str) -> str | None:
    """Which gain a measure has; None where it has none.

    Examples
    --------
    >>> gain_of("nDCG@10"), gain_of("DCG(dcg='exp-log2')@5"), gain_of("P@5")
    ('linear', 'exponential', None)
    """
    measure = parse_measure(name)
    if measure.family not in ("nDCG", "DCG"):
        return None
    alike = (gain for gain, dcg in GAINS.items() if measure.with_options({"dcg": dcg}) == measure)
    return next(alike, None)


def robustness_grid(
    base: Variant, variants: Iterable[Variant], *, families: Mapping[Any, Hashable] | None = None
) -> Grid:
    """The difference as it stands and under each variant, run minus reference.

    Each with its interval and the p-value of the sign-flip test, families kept whole, as `compare`
    computes them; variants are looked at one by one, without a correction, because the question
    is whether each agrees and not whether any does.
    """
    stands = _cell(base, families)
    return Grid(stands, tuple(_judged(_cell(variant, families), stands) for variant in variants))


def _cell(variant: Variant, families: Mapping[Any, Hashable] | None) -> Cell:
    defined = {
        qid: pair for qid, pair in variant.values.items() if not (isnan(pair[0]) or isnan(pair[1]))
    }
    if variant.missing or len(defined) < FEWEST:
        why = variant.missing or f"{len(defined)} queries; expected {FEWEST} or more."
        return Cell(
            variant.group, variant.name, variant.measure, len(defined),
            nan, nan, nan, nan, Outcome.NOT_RECORDED, note=why,
        )  # fmt: skip
    runs = {
        name: {qid: {variant.measure: pair[place]} for qid, pair in defined.items()}
        for place, name in enumerate((RUN, REFERENCE))
    }
    pair = compare(runs, baseline=REFERENCE, families=families).pairs_of(variant.measure, OVERALL)[
        0
    ]
    return Cell(
        variant.group, variant.name, variant.measure, pair.n_queries,
        pair.difference, *pair.interval, pair.p, _outcome(pair.difference, pair.p),
    )  # fmt: skip


def _outcome(difference: float, p: float) -> Outcome:
    if not p < ALPHA:
        return Outcome.NOT_SHOWN
    return Outcome.BETTER if difference > 0 else Outcome.WORSE


def _judged(cell: Cell, stands: Cell) -> Cell:
    if cell.outcome is Outcome.NOT_RECORDED or stands.outcome is Outcome.NOT_RECORDED:
        return cell
    same_sign = _sign(cell.difference) == _sign(stands.difference)
    return replace(cell, has_same_sign=same_sign, survives=cell.outcome is stands.outcome)


def _sign(value: float) -> int:
    return 0 if abs(value) < 1e-9 else (1 if value > 0 else -1)


# --- labels --------------------------------------------------------------------------------------

Grades = Mapping[str, Mapping[str, int]]


def contested_pairs(views: Iterable[Grades]) -> set[tuple[str, str]]:
    """Pairs of query and document to which two people gave different grades.

    Examples
    --------
    >>> contested_pairs([{"q": {"d": 1, "e": 0}}, {"q": {"d": 2, "e": 0}}])
    {('q', 'd')}
    """
    first: dict[tuple[str, str], int] = {}
    contested = set()
    for view in views:
        for qid, grades in view.items():
            for docid, grade in grades.items():
                if first.setdefault((qid, docid), grade) != grade:
                    contested.add((qid, docid))
    return contested


def without(grades: Grades, pairs: set[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """The grades without these pairs; a query that has none left is not in it."""
    grades_left = {
        qid: {docid: grade for docid, grade in of.items() if (qid, docid) not in pairs}
        for qid, of in grades.items()
    }
    return {qid: of for qid, of in grades_left.items() if of}
