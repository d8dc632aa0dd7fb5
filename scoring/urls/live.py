"""Addresses of systems that answer searches while they are asked, and of how long that took."""

from django.urls import path

from scoring.views import latency

in_benchmark = [
    path("runs/<int:pk>/latency/", latency.run_latency, name="run-latency"),
    path("runs/<int:pk>/latency.<str:format>", latency.run_latency_chart, name="run-latency-chart"),
]
