"""Addresses of contextual precision: cases, judges and verdicts."""

from django.urls.resolvers import URLPattern

in_benchmark: list[URLPattern] = []
