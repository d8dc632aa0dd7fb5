"""Endpoints of slices."""

from django.urls import URLPattern

of_benchmark: list[URLPattern] = []
