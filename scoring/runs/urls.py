"""Addresses of the scores of a run, and of how long it took."""

from django.urls import path

from scoring.runs.views import charts, holes, queries, runs

in_benchmark = [
    path("runs/score/", runs.runs_score, name="runs-score"),
    path("runs/<int:pk>/scores/", runs.run_scores, name="run-scores"),
    path("runs/<int:pk>/slices/", runs.run_slices, name="run-slices"),
    path("runs/<int:pk>/reading/", runs.run_reading, name="run-reading"),
    path("runs/<int:pk>/holes/", holes.run_holes, name="run-holes"),
    path("runs/<int:pk>/holes.csv", holes.run_holes_csv, name="run-holes-csv"),
    path("runs/<int:pk>/queries/", queries.run_queries, name="run-queries"),
    path("runs/<int:pk>/queries.csv", queries.run_queries_csv, name="run-queries-csv"),
    path("runs/<int:pk>/queries/<path:qid>/", queries.run_query, name="run-query"),
    path(
        "runs/<int:pk>/charts/<str:version>/<str:measure>/<slug:run_chart>.<str:format>",
        charts.run_chart,
        name="run-chart",
    ),
    path("runs/<int:pk>/latency/", charts.run_latency, name="run-latency"),
    path("runs/<int:pk>/latency.<str:format>", charts.run_latency_chart, name="run-latency-chart"),
]
