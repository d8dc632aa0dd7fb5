"""Addresses of systems that are run here, and of approximate indexes."""

from django.urls import path

from scoring.systems import views

in_benchmark = [
    path("runs/baselines/", views.baseline_list, name="baseline-list"),
    path("runs/baselines/make/", views.baselines_create, name="baselines-create"),
    path("runs/baselines/progress/", views.baseline_progress, name="baseline-progress"),
    path("ann/", views.ann, name="ann"),
    path(
        "ann/<int:exact>/<int:approximate>/recall-<int:k>.<str:format>",
        views.ann_chart,
        name="ann-chart",
    ),
    path(
        "ann/<int:exact>/<int:approximate>/within-<str:tolerance>/recall-<int:k>.<str:format>",
        views.ann_chart,
        name="ann-chart",
    ),
]
