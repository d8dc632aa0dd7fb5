"""Addresses of pools, judging and what comes of it; each area lists its own."""

from django.urls import include, path

from annotation.urls import around, judging, ledger, pools, quality

app_name = "annotation"
in_benchmark = [
    *pools.in_benchmark,
    *judging.in_benchmark,
    *quality.in_benchmark,
    *ledger.in_benchmark,
    *around.in_benchmark,
]
urlpatterns = [
    path("b/<slug:slug>/", include(in_benchmark)),
    path("judge/", include([*judging.of_annotator, *around.of_annotator])),
]
