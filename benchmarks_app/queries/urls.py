"""Addresses of queries and documents."""

from django.urls import path

from benchmarks_app.queries import views

in_benchmark = [
    path("queries/", views.query_list, name="query-list"),
    path("queries/<int:pk>/", views.query_detail, name="query-detail"),
    path("documents/<path:docid>/", views.document_detail, name="document-detail"),
]
