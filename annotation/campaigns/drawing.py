"""What the page of a judge draws: the confusion of grades, and intervals on one axis a table."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

from benchmarks_app.charts.axis import Axis, Whisker, axis_of
from benchmarks_app.templatetags.benchwright import DASH, MINUS, percent

if TYPE_CHECKING:
    from benchwright.agreement.measured import Measured
    from benchwright.calibration.calibrating import Calibration
    from benchwright.calibration.improving import Improvement

COEFFICIENTS = {
    "kappa_quadratic": "Kappa, quadratic",
    "people_with_people": "Two people, kappa quadratic",
    "kappa_linear": "Kappa, linear",
    "kappa": "Kappa",
    "alpha": "Alpha, ordinal",
}


@dataclass(frozen=True)
class ForestRow:
    """A number with its interval; `why` where there is no number, `is_off` where 0 is outside."""

    label: str
    n: int
    value: float | None
    low: float | None
    high: float | None
    why: str
    is_faint: bool
    is_off: bool = False
    whisker: Whisker | None = None
    digits: int = 2

    @property
    def text(self) -> str:
        return "" if self.value is None else _number(self.value, self.digits)

    @property
    def interval(self) -> str:
        if self.low is None or self.high is None:
            return "no interval"
        return f"{_number(self.low, self.digits)} to {_number(self.high, self.digits)}"


def _number(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", MINUS)


@dataclass(frozen=True)
class Forest:
    """Rows on one axis; `zero` is where 0, or another mark, stands on it, in percent."""

    rows: list[ForestRow]
    ticks: list[tuple[float, str]]
    zero: float


def confusion_rows(calibration: "Calibration | None") -> list[dict[str, Any]]:
    """People's grades as rows: each cell with its count and its share of the row."""
    if calibration is None:
        return []
    rows = []
    for place, counts in enumerate(calibration.confusion):
        total = sum(counts)
        shares = [count / total if total else 0.0 for count in counts]
        cells = [
            {"n": n, "share": share, "step": round(10 * share), "is_same": at == place}
            for at, (n, share) in enumerate(zip(counts, shares, strict=True))
        ]
        rows.append({"grade": calibration.scale[place], "cells": cells, "n": total})
    return rows


def agreement_forest(calibration: "Calibration") -> Forest:
    """How far machine and people agree, by each coefficient, and how far two people do."""
    measured = ((label, getattr(calibration, name)) for name, label in COEFFICIENTS.items())
    return forest_of(
        ForestRow(label, of.n_items, of.value, of.low, of.high, of.why, is_faint=False)
        for label, of in measured
    )


def bias_forest(calibration: "Calibration") -> Forest:
    """Machine minus people, in grades: over all pairs, then by grade, slice, length, language."""
    return forest_of(_biases(calibration))


def _biases(calibration: "Calibration") -> Iterator[ForestRow]:
    biases = [("All", calibration.bias)]
    for kind, parts in calibration.bias_by.items():
        head = "People say" if kind == "grade" else kind.capitalize()
        biases += [(f"{head} {part.name}", part) for part in parts if part.n_pairs]
    for label, bias in biases:
        low, high = (bias.low, bias.high) if isfinite(bias.low) else (None, None)
        is_off = low is not None and high is not None and not low <= 0 <= high
        yield ForestRow(
            label, bias.n_pairs, bias.mean, low, high, "", bias.is_too_few,
            is_off=is_off and not bias.is_too_few,
        )  # fmt: skip


@dataclass(frozen=True)
class ChangeRow:
    """Agreement before and after, and the difference with its interval."""

    label: str
    before: str
    after: str
    difference: str
    interval: str


def change_rows(improvement: "Improvement") -> list[ChangeRow]:
    """What another prompt changed, by quadratic kappa and by exact agreement."""
    before, after = (
        DASH if kappa.value is None else _number(kappa.value)
        for kappa in (improvement.kappa_before, improvement.kappa_after)
    )
    exacts = (percent(improvement.exact_before), percent(improvement.exact_after))
    return [
        ChangeRow("Kappa", before, after, *_signed(improvement.kappa)),
        ChangeRow("Same grade", exacts[0], exacts[1], *_signed(improvement.exact)),
    ]


def _signed(measured: "Measured") -> tuple[str, str]:
    """A difference and its interval, as people write them."""
    if measured.value is None:
        return DASH, measured.why
    value = f"{measured.value:+.2f}".replace("-", MINUS)
    if measured.low is None or measured.high is None:
        return value, "no interval"
    ends = f"{measured.low:+.2f} to {measured.high:+.2f}"
    return value, ends.replace("-", MINUS)


def forest_of(rows: Iterable[ForestRow], *, mark: float = 0.0) -> Forest:
    """Rows on the one axis that holds all their ends, 0, and what they are held against."""
    known = list(rows)
    ends = [end for row in known for end in (row.value, row.low, row.high) if end is not None]
    axis = cast("Axis", axis_of([0.0, mark, *ends]))
    drawn = [
        replace(row, whisker=axis.whisker(row.value, row.low, row.high))
        if row.value is not None
        else row
        for row in known
    ]
    return Forest(drawn, axis.labels, axis.place(mark))
