"""Slices of a benchmark, and how reliable it is."""

from django.urls import path

from benchmarks_app.views import slices

in_benchmark = [
    path("slices/", slices.slice_list, name="slice-list"),
    path("slices/new/", slices.slice_new, name="slice-new"),
    path("slices/preview/", slices.slice_preview, name="slice-preview"),
    path("slices/import/", slices.slice_import, name="slice-import"),
    path("slices/<str:slice_name>/", slices.slice_detail, name="slice-detail"),
    path("slices/<str:slice_name>/edit/", slices.slice_edit, name="slice-edit"),
    path("slices/<str:slice_name>/decide/", slices.slice_decide, name="slice-decide"),
    path("slices/<str:slice_name>/add/", slices.slice_add, name="slice-add"),
    path("slices/<str:slice_name>/refresh/", slices.slice_refresh, name="slice-refresh"),
    path("slices/<str:slice_name>/register/", slices.slice_register, name="slice-register"),
    path("slices/<str:slice_name>/delete/", slices.slice_delete, name="slice-delete"),
]
