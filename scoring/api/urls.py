"""Addresses below /api/v1/, collected there by the name of this module; each area lists its own."""

from django.urls import include, path
from django.urls.resolvers import URLPattern

of_benchmark: list[URLPattern] = []
urlpatterns = [path("benchmarks/<slug:slug>/", include(of_benchmark))]
