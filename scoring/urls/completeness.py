"""Addresses of what is worth judging, of plans, of freshness, reusability and indexes."""

from django.urls import path

from scoring.views import ann, completeness, freshness, planner, reusability

in_benchmark = [
    path("runs/<int:pk>/top-up/", completeness.run_top_up, name="run-top-up"),
    path("compare/top-up/", completeness.top_up_new, name="top-up-new"),
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
    path("ann/", ann.ann, name="ann"),
    path(
        "ann/<int:exact>/<int:approximate>/recall-<int:k>.<str:format>",
        ann.ann_chart,
        name="ann-chart",
    ),
]
