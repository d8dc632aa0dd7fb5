"""Addresses of benchmarks, their settings and their runs."""

from django.urls import path

from benchmarks_app.collections import views

in_benchmark = [
    path("", views.benchmark_detail, name="benchmark-detail"),
    path("settings/", views.benchmark_settings, name="benchmark-settings"),
    path("images/<str:sha256>/", views.document_image, name="document-image"),
    path("images/<str:sha256>/small/", views.document_thumbnail, name="document-thumbnail"),
    path("runs/", views.run_list, name="run-list"),
    path("runs/<int:pk>/", views.run_detail, name="run-detail"),
]
urlpatterns = [
    path("new/", views.benchmark_new, name="benchmark-new"),
]
