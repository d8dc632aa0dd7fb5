"""Addresses below /api/v1/, collected there by the name of this module; each area lists its own."""

from django.urls import include, path
from django.urls.resolvers import URLPattern

from scoring.api import (
    ann,
    baselines,
    boards,
    comparisons,
    completeness,
    contextual,
    contrastive,
    embeddings,
    freshness,
    gates,
    live,
    phases,
    planner,
    reported,
    rescoring,
    reusability,
    runs,
    submissions,
)

of_benchmark: list[URLPattern] = [
    *submissions.of_benchmark,
    *phases.of_benchmark,
    *completeness.of_benchmark,
    *planner.of_benchmark,
    *ann.of_benchmark,
    *freshness.of_benchmark,
    *gates.of_benchmark,
    *reusability.of_benchmark,
    *boards.of_benchmark,
    *reported.of_benchmark,
    *rescoring.of_benchmark,
    *comparisons.of_benchmark,
    *runs.of_benchmark,
    *baselines.of_benchmark,
    *live.of_benchmark,
    *embeddings.of_benchmark,
    *contrastive.of_benchmark,
    *contextual.of_benchmark,
]
urlpatterns = [path("benchmarks/<slug:slug>/", include(of_benchmark))]
