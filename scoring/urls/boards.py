"""Addresses of boards, each of one release."""

from django.urls import path

from scoring.views import boards

in_benchmark = [
    path("leaderboard/", boards.leaderboard, name="leaderboard"),
    path("v/<str:version>/leaderboard/", boards.leaderboard_release, name="leaderboard-release"),
    path("v/<str:version>/leaderboard.csv", boards.leaderboard_csv, name="leaderboard-csv"),
]
