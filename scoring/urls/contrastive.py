"""Addresses of pairs of embeddings and their contrastive accuracy."""

from django.urls.resolvers import URLPattern

in_benchmark: list[URLPattern] = []
