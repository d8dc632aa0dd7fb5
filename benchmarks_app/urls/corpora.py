"""A corpus: its versions, and snapshots on their way in."""

from django.urls import URLPattern

in_benchmark: list[URLPattern] = []
