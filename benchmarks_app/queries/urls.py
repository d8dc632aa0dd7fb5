"""Addresses of queries and documents."""

from django.urls import path

from benchmarks_app.queries import views

in_benchmark = [
    path("queries/", views.query_list, name="query-list"),
    path("queries/<int:pk>/", views.query_detail, name="query-detail"),
    path("queries/draws/", views.query_draw_list, name="query-draw-list"),
    path("queries/draws/<int:pk>/queries.tsv", views.query_draw_queries, name="query-draw-queries"),
    path("documents/<path:docid>/", views.document_detail, name="document-detail"),
]
