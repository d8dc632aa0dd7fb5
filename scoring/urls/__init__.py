"""Addresses of submissions, scores, boards and gates; each area lists its own."""

from django.urls import include, path

from scoring.urls import (
    boards,
    comparisons,
    completeness,
    gates,
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
]
urlpatterns = [path("b/<slug:slug>/", include(in_benchmark))]
