"""Addresses of the scores of a run."""

from django.urls import path

from scoring.views import runs

in_benchmark = [
    path("runs/baselines/", runs.baselines_create, name="baselines-create"),
    path("runs/score/", runs.runs_score, name="runs-score"),
    path("runs/<int:pk>/scores/", runs.run_scores, name="run-scores"),
    path("runs/<int:pk>/queries/", runs.run_queries, name="run-queries"),
]
