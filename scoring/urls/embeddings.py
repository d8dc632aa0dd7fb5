"""Addresses of submitted embeddings."""

from django.urls.resolvers import URLPattern

in_benchmark: list[URLPattern] = []
