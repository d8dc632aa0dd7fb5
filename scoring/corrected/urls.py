"""Addresses of corrected means."""

from django.urls import path

from scoring.corrected import views

in_benchmark = [
    path("compare/corrected/", views.comparison_corrected, name="comparison-corrected"),
    path(
        "v/<str:version>/leaderboard/corrected/",
        views.leaderboard_corrected,
        name="leaderboard-corrected",
    ),
]
