"""Addresses of the scores of a run."""

from django.urls import path

from scoring.views import holes, probing, run_charts, run_queries, runs

in_benchmark = [
    path("runs/score/", runs.runs_score, name="runs-score"),
    path("runs/probing/", probing.probing_list, name="probing-list"),
    path("runs/probing/<int:pk>/settle/", probing.probing_settle, name="probing-settle"),
    path("runs/<int:pk>/scores/", runs.run_scores, name="run-scores"),
    path("runs/<int:pk>/slices/", runs.run_slices, name="run-slices"),
    path("runs/<int:pk>/reading/", runs.run_reading, name="run-reading"),
    path("runs/<int:pk>/holes/", holes.run_holes, name="run-holes"),
    path("runs/<int:pk>/holes.csv", holes.run_holes_csv, name="run-holes-csv"),
    path("runs/<int:pk>/queries/", run_queries.run_queries, name="run-queries"),
    path("runs/<int:pk>/queries.csv", run_queries.run_queries_csv, name="run-queries-csv"),
    path("runs/<int:pk>/queries/<path:qid>/", run_queries.run_query, name="run-query"),
    path(
        "runs/<int:pk>/charts/<str:version>/<str:measure>/<slug:run_chart>.<str:format>",
        run_charts.run_chart,
        name="run-chart",
    ),
]
