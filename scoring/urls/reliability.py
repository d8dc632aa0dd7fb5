"""Addresses of what a benchmark's queries can show."""

from django.urls import path

from scoring.views import reliability

in_benchmark = [
    path("reliability/", reliability.reliability, name="reliability"),
    path(
        "slices/<str:slice_name>/visible.<str:format>",
        reliability.slice_reach_chart,
        name="slice-reach-chart",
    ),
]
