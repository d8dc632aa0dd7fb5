"""Addresses of submissions, scores, boards and gates; each area lists its own."""

from django.urls import include, path

from scoring.urls import (
    baselines,
    boards,
    comparisons,
    completeness,
    contextual,
    contrastive,
    embeddings,
    gates,
    live,
    phases,
    reliability,
    reported,
    rescoring,
    runs,
    submissions,
)

app_name = "scoring"
in_benchmark = [
    *submissions.in_benchmark,
    *phases.in_benchmark,
    *runs.in_benchmark,
    *boards.in_benchmark,
    *reported.in_benchmark,
    *reliability.in_benchmark,
    *completeness.in_benchmark,
    *rescoring.in_benchmark,
    *comparisons.in_benchmark,
    *gates.in_benchmark,
    *baselines.in_benchmark,
    *live.in_benchmark,
    *embeddings.in_benchmark,
    *contrastive.in_benchmark,
    *contextual.in_benchmark,
]
urlpatterns = [path("b/<slug:slug>/", include(in_benchmark))]
