"""Addresses of what queries can show, of plans, freshness and reusability."""

from django.urls import path

from scoring.planning.views import freshness, planner, reliability, reusability

in_benchmark = [
    path("reliability/", reliability.reliability, name="reliability"),
    path(
        "slices/<str:slice_name>/visible.<str:format>",
        reliability.slice_reach_chart,
        name="slice-reach-chart",
    ),
    path("planner/", planner.planner, name="planner"),
    path("planner/<str:wish>/cost.<str:format>", planner.planner_chart, name="planner-chart"),
    path("freshness/", freshness.freshness, name="freshness"),
    path("v/<str:version>/stale-labels.csv", freshness.freshness_csv, name="freshness-csv"),
    path("reusability/", reusability.reusability, name="reusability"),
    path(
        "v/<str:version>/reusability.<str:format>",
        reusability.reusability_chart,
        name="reusability-chart",
    ),
]
