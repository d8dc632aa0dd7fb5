"""Addresses of systems that answer searches while they are asked."""

from django.urls.resolvers import URLPattern

in_benchmark: list[URLPattern] = []
