"""Addresses below /api/v1/, collected there by the name of this module; each area lists its own."""

from django.urls import include, path
from django.urls.resolvers import URLPattern

from scoring.api import boards, comparisons, reported, rescoring, runs

of_benchmark: list[URLPattern] = [
    *boards.of_benchmark,
    *reported.of_benchmark,
    *rescoring.of_benchmark,
    *comparisons.of_benchmark,
    *runs.of_benchmark,
]
urlpatterns = [path("benchmarks/<slug:slug>/", include(of_benchmark))]
