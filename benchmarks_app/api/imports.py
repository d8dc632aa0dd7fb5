"""Endpoints of imports."""

from django.urls import URLPattern

of_benchmark: list[URLPattern] = []
