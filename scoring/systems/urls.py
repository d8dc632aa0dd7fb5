"""Addresses of systems that are run here, and of approximate indexes."""

from django.urls import path

from scoring.systems.views import ann, baselines

in_benchmark = [
    path("runs/baselines/", baselines.baseline_list, name="baseline-list"),
    path("runs/baselines/make/", baselines.baselines_create, name="baselines-create"),
    path("runs/baselines/progress/", baselines.baseline_progress, name="baseline-progress"),
    path("ann/", ann.ann, name="ann"),
    path(
        "ann/<int:exact>/<int:approximate>/recall-<int:k>.<str:format>",
        ann.ann_chart,
        name="ann-chart",
    ),
]
