"""Estimates on one axis: differences to the reference, or the mean of a pool's only run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from annotation.campaigns.drawing import Forest, ForestRow
from benchmarks_app.charts.axis import Axis, Whisker, axis_of
from benchmarks_app.templatetags.benchwright import MINUS

if TYPE_CHECKING:
    from annotation.estimates.services import Estimated, Estimates


@dataclass(frozen=True)
class EstimateRow(ForestRow):
    """An estimate with its interval, in thousandths."""

    @property
    def text(self) -> str:
        return "" if self.value is None else _number(self.value)

    @property
    def interval(self) -> str:
        if self.low is None or self.high is None:
            return "no interval"
        return f"{_number(self.low)} to {_number(self.high)}"


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", MINUS)


def estimates_forest(estimates: Estimates) -> Forest | None:
    """None where there is nothing to draw."""
    numbers = [(row.run, row.difference) for row in estimates.rows if row.difference]
    told = numbers or [(row.run, row.mean) for row in estimates.rows]
    if not told:
        return None
    ends = [end for _, of in told for end in (of.low, of.high)]
    axis = cast("Axis", axis_of([0.0, *ends]))
    rows = [_row(run, of, axis.whisker(of.value, of.low, of.high)) for run, of in told]
    return Forest(rows, axis.labels, axis.place(0.0))


def _row(run: str, of: Estimated, whisker: Whisker) -> ForestRow:
    return EstimateRow(
        run, of.n_labels, of.value, of.low, of.high, "",
        is_faint=False, is_off=of.high < 0, whisker=whisker,
    )  # fmt: skip
