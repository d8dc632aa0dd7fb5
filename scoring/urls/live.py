"""Addresses of systems that answer searches while they are asked, and of how long that took."""

from django.urls import path

from scoring.views import latency, live

in_benchmark = [
    path("live/", live.live_list, name="live-list"),
    path("live/new/", live.live_new, name="live-new"),
    path("live/<int:pk>/", live.live_detail, name="live-detail"),
    path("live/<int:pk>/edit/", live.live_edit, name="live-edit"),
    path("live/<int:pk>/delete/", live.live_delete, name="live-delete"),
    path("live/<int:pk>/try/", live.live_try, name="live-try"),
    path("live/<int:pk>/ask/", live.live_ask, name="live-ask"),
    path("runs/<int:pk>/latency/", latency.run_latency, name="run-latency"),
    path("runs/<int:pk>/latency.<str:format>", latency.run_latency_chart, name="run-latency-chart"),
]
