"""Addresses of benchmarks, their settings and their runs."""

from django.urls import path

from benchmarks_app.collections.views import benchmarks, images, runs

in_benchmark = [
    path("", benchmarks.benchmark_detail, name="benchmark-detail"),
    path("settings/", benchmarks.benchmark_settings, name="benchmark-settings"),
    path("images/<str:sha256>/", images.document_image, name="document-image"),
    path("images/<str:sha256>/small/", images.document_thumbnail, name="document-thumbnail"),
    path("runs/", runs.run_list, name="run-list"),
    path("runs/<int:pk>/", runs.run_detail, name="run-detail"),
]
urlpatterns = [
    path("new/", benchmarks.benchmark_new, name="benchmark-new"),
]
