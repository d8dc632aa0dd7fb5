"""Estimates on one axis: differences to the reference, or the mean of a pool's only run."""

from typing import TYPE_CHECKING

from annotation.campaigns.drawing import Forest, ForestRow, forest_of

if TYPE_CHECKING:
    from annotation.estimates.services import Estimates


def estimates_forest(estimates: "Estimates") -> Forest | None:
    """None where there is nothing to draw."""
    differences = [(row.run, row.difference) for row in estimates.rows if row.difference]
    drawn = differences or [(row.run, row.mean) for row in estimates.rows]
    rows = [
        ForestRow(
            run, of.n_labels, of.value, of.low, of.high, "",
            is_faint=False, is_off=of.high < 0, digits=3,
        )
        for run, of in drawn
    ]  # fmt: skip
    return forest_of(rows) if rows else None
