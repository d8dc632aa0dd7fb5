"""Addresses of pools, judging and what comes of it; each feature lists its own."""

from django.urls import include, path

from annotation import overview  # noqa: F401  # what pages show, which nobody asks for before
from annotation.agreement import urls as agreement
from annotation.campaigns import urls as campaigns
from annotation.contradictions import urls as contradictions
from annotation.estimates import urls as estimates
from annotation.guidelines import urls as guidelines
from annotation.judging import urls as judging
from annotation.labels import urls as labels
from annotation.pools import urls as pools
from annotation.queueing import urls as queueing
from annotation.searching import urls as searching
from annotation.sparing import urls as sparing

app_name = "annotation"
in_benchmark = [
    *pools.in_benchmark,
    *judging.in_benchmark,
    *agreement.in_benchmark,
    *labels.in_benchmark,
    *guidelines.in_benchmark,
    *searching.in_benchmark,
    *campaigns.in_benchmark,
    *contradictions.in_benchmark,
    *estimates.in_benchmark,
    *sparing.in_benchmark,
    *queueing.in_benchmark,
]
urlpatterns = [
    path("b/<slug:slug>/", include(in_benchmark)),
    path("judge/", include([*judging.of_annotator, *guidelines.of_annotator])),
]
