"""Addresses of comparisons."""

from django.urls import path

from scoring.comparisons.views import charts, comparisons, files, side_by_side

CHART = "compare/<str:key>/<int:part>/<int:run>-<int:reference>/<str:chart>.<str:format>"
in_benchmark = [
    path("compare/", comparisons.comparison, name="comparison"),
    path("compare/start/", comparisons.comparison_start, name="comparison-start"),
    path("compare/results/", side_by_side.side_by_side, name="side-by-side"),
    path("compare/robustness/", comparisons.comparison_robustness, name="comparison-robustness"),
    path(
        "compare/summary.<str:format>",
        files.comparison_summary,
        name="comparison-summary",
    ),
    path(
        "compare/queries.<str:format>",
        files.comparison_queries,
        name="comparison-queries",
    ),
    path(CHART, charts.comparison_chart, name="comparison-chart"),
]
