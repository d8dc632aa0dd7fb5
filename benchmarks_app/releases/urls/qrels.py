"""Addresses of sets of qrels."""

from django.urls import path

from benchmarks_app.releases.views import qrels

in_benchmark = [
    path("qrels/", qrels.qrels_list, name="qrels-list"),
    path("qrels/<int:pk>/map/", qrels.qrels_map, name="qrels-map"),
    path("qrels/<int:pk>/delete/", qrels.qrels_delete, name="qrels-delete"),
    path("qrels/<int:pk>/download/", qrels.qrels_download, name="qrels-download"),
]
