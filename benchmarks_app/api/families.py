"""Endpoints of families."""

from django.urls import URLPattern

of_benchmark: list[URLPattern] = []
