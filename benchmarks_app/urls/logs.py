"""Queries from a log: uploaded, masked, sampled."""

from django.urls import URLPattern

in_benchmark: list[URLPattern] = []
