"""Families of queries: grouped, reviewed."""

from django.urls import URLPattern

in_benchmark: list[URLPattern] = []
