"""Charts of the whole site: one specification, drawn as SVG or PNG and alive in the browser.

docs/charts.md shows how a page gets one. Nothing here draws at import, nor in this process.
"""

from benchmarks_app.charts.answering import chart_response
from benchmarks_app.charts.chart import Chart, axis_of_counts

__all__ = ["Chart", "axis_of_counts", "chart_response"]
