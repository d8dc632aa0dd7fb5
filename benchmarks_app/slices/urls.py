"""Slices of a benchmark, and how reliable it is."""

from django.urls import path

from benchmarks_app.slices import views

in_benchmark = [
    path("slices/", views.slice_list, name="slice-list"),
    path("slices/new/", views.slice_new, name="slice-new"),
    path("slices/preview/", views.slice_preview, name="slice-preview"),
    path("slices/import/", views.slice_import, name="slice-import"),
    path("slices/<str:slice_name>/", views.slice_detail, name="slice-detail"),
    path("slices/<str:slice_name>/edit/", views.slice_edit, name="slice-edit"),
    path("slices/<str:slice_name>/decide/", views.slice_decide, name="slice-decide"),
    path("slices/<str:slice_name>/add/", views.slice_add, name="slice-add"),
    path("slices/<str:slice_name>/refresh/", views.slice_refresh, name="slice-refresh"),
    path("slices/<str:slice_name>/register/", views.slice_register, name="slice-register"),
    path("slices/<str:slice_name>/delete/", views.slice_delete, name="slice-delete"),
]
