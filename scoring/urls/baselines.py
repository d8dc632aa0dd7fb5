"""Addresses of retrieval systems that are run here."""

from django.urls import path

from scoring.views import baselines

in_benchmark = [
    path("runs/baselines/", baselines.baseline_list, name="baseline-list"),
    path("runs/baselines/make/", baselines.baselines_create, name="baselines-create"),
    path("runs/baselines/progress/", baselines.baseline_progress, name="baseline-progress"),
]
