"""Endpoints of pairs of embeddings and their contrastive accuracy."""

from django.urls.resolvers import URLPattern

of_benchmark: list[URLPattern] = []
