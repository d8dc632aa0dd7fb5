"""Endpoints of corpora."""

from django.urls import URLPattern

of_benchmark: list[URLPattern] = []
