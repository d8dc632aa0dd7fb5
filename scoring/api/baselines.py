"""Endpoints of retrieval systems that are run here."""

from django.urls.resolvers import URLPattern

of_benchmark: list[URLPattern] = []
