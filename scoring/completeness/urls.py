"""Addresses of documents that are worth judging."""

from django.urls import path

from scoring.completeness import views

in_benchmark = [
    path("runs/<int:pk>/top-up/", views.run_top_up, name="run-top-up"),
    path("compare/top-up/", views.top_up_new, name="top-up-new"),
]
