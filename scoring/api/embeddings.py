"""Endpoints of submitted embeddings."""

from django.urls.resolvers import URLPattern

of_benchmark: list[URLPattern] = []
