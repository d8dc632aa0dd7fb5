"""Endpoints of contextual precision: cases, judges and verdicts."""

from django.urls.resolvers import URLPattern

of_benchmark: list[URLPattern] = []
