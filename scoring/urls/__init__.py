"""Addresses of submissions, scores, boards and gates; each area lists its own."""

from django.urls import include, path

from scoring.urls import boards, reliability, runs, submissions

app_name = "scoring"
in_benchmark = [
    *submissions.in_benchmark,
    *runs.in_benchmark,
    *boards.in_benchmark,
    *reliability.in_benchmark,
]
urlpatterns = [path("b/<slug:slug>/", include(in_benchmark))]
