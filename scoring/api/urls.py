"""Addresses below /api/v1/, collected there by the name of this module; each area lists its own."""

from django.urls import include, path
from django.urls.resolvers import URLPattern

from scoring.api import comparisons, runs

of_benchmark: list[URLPattern] = [
    *comparisons.of_benchmark,
    *runs.of_benchmark,
]
urlpatterns = [path("benchmarks/<slug:slug>/", include(of_benchmark))]
