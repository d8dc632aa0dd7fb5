"""Endpoints of releases."""

from django.urls import URLPattern

of_benchmark: list[URLPattern] = []
