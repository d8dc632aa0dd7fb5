"""Addresses of boards, each of one release."""

from django.urls import path

from scoring.views import board_charts, board_files, boards

in_benchmark = [
    path("leaderboard/", boards.leaderboard, name="leaderboard"),
    path("v/<str:version>/leaderboard/", boards.leaderboard_release, name="leaderboard-release"),
    path("leaderboard/compare/", boards.leaderboard_compare, name="leaderboard-compare"),
    path(
        "v/<str:version>/leaderboard/slices/",
        board_charts.leaderboard_slices,
        name="leaderboard-slices",
    ),
    path(
        "v/<str:version>/leaderboard/slices.csv",
        board_charts.leaderboard_slices_csv,
        name="leaderboard-slices-csv",
    ),
    path(
        "v/<str:version>/leaderboard/history/",
        board_charts.leaderboard_history,
        name="leaderboard-history",
    ),
    path(
        "v/<str:version>/leaderboard/<str:measure>/history.<str:format>",
        board_charts.leaderboard_history_chart,
        name="leaderboard-history-chart",
    ),
    path("v/<str:version>/leaderboard.csv", board_files.leaderboard_csv, name="leaderboard-csv"),
    path("v/<str:version>/leaderboard.json", board_files.leaderboard_json, name="leaderboard-json"),
    path(
        "v/<str:version>/leaderboard.md",
        board_files.leaderboard_markdown,
        name="leaderboard-markdown",
    ),
]
