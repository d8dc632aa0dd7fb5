"""Endpoints of logs."""

from django.urls import URLPattern

of_benchmark: list[URLPattern] = []
