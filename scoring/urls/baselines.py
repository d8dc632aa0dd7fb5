"""Addresses of retrieval systems that are run here."""

from django.urls.resolvers import URLPattern

in_benchmark: list[URLPattern] = []
