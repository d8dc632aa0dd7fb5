"""Endpoints of systems that answer searches while they are asked."""

from django.urls.resolvers import URLPattern

of_benchmark: list[URLPattern] = []
