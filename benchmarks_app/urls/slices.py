"""Slices of a benchmark, and how reliable it is."""

from django.urls import URLPattern

in_benchmark: list[URLPattern] = []
