"""Addresses of boards, each of one release."""

from django.urls import path

from scoring.boards.views import boards, charts, embedded, files

in_benchmark = [
    path("leaderboard/", boards.leaderboard, name="leaderboard"),
    path("v/<str:version>/leaderboard/", boards.leaderboard_release, name="leaderboard-release"),
    path("v/<str:version>/leaderboard/top/", boards.board_top, name="board-top"),
    path("leaderboard/embed/", embedded.board_embed, name="board-embed"),
    path("leaderboard/badge.svg", embedded.board_badge, name="board-badge"),
    path("leaderboard/badge.json", embedded.board_badge_json, name="board-badge-json"),
    path("leaderboard/compare/", boards.leaderboard_compare, name="leaderboard-compare"),
    path(
        "v/<str:version>/leaderboard/slices/",
        charts.leaderboard_slices,
        name="leaderboard-slices",
    ),
    path(
        "v/<str:version>/leaderboard/slices.csv",
        charts.leaderboard_slices_csv,
        name="leaderboard-slices-csv",
    ),
    path(
        "v/<str:version>/leaderboard/history/",
        charts.leaderboard_history,
        name="leaderboard-history",
    ),
    path(
        "v/<str:version>/leaderboard/<str:measure>/history.<str:format>",
        charts.leaderboard_history_chart,
        name="leaderboard-history-chart",
    ),
    path("v/<str:version>/leaderboard.csv", files.leaderboard_csv, name="leaderboard-csv"),
    path("v/<str:version>/leaderboard.json", files.leaderboard_json, name="leaderboard-json"),
    path(
        "v/<str:version>/leaderboard.md",
        files.leaderboard_markdown,
        name="leaderboard-markdown",
    ),
]
