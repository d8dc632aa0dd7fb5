"""Endpoints of splits."""

from django.urls import URLPattern

of_benchmark: list[URLPattern] = []
