"""Splits, their proof, and the check against outside queries."""

from django.urls import URLPattern

in_benchmark: list[URLPattern] = []
