"""Charts of scores: small ones as path data for a template, larger ones as specifications."""

from scoring.charts.bars import SortedBars, sorted_bars
from scoring.charts.reach import reach_chart

__all__ = ["SortedBars", "reach_chart", "sorted_bars"]
