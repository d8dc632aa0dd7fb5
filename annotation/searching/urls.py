"""Addresses of searching the corpus beside a query."""

from django.urls import path

from annotation.searching import views

in_benchmark = [
    path("queries/<int:pk>/search/", views.query_search, name="query-search"),
    path("queries/<int:pk>/search/grade/", views.found_grade, name="found-grade"),
    path("queries/searchable/", views.words_index, name="words-index"),
]
