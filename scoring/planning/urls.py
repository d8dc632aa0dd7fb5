"""Addresses of what queries can show, of plans, freshness and reusability."""

from django.urls import path

from scoring.planning import views

in_benchmark = [
    path("reliability/", views.reliability, name="reliability"),
    path(
        "slices/<str:slice_name>/visible.<str:format>",
        views.slice_reach_chart,
        name="slice-reach-chart",
    ),
    path("planner/", views.planner, name="planner"),
    path("planner/<str:wish>/cost.<str:format>", views.planner_chart, name="planner-chart"),
    path("freshness/", views.freshness, name="freshness"),
    path("v/<str:version>/stale-labels.csv", views.freshness_csv, name="freshness-csv"),
    path("reusability/", views.reusability, name="reusability"),
    path(
        "v/<str:version>/reusability.<str:format>",
        views.reusability_chart,
        name="reusability-chart",
    ),
]
