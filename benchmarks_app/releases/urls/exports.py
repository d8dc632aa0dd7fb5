"""Exports of releases and runs."""

from django.urls import path

from benchmarks_app.releases.views import exports

in_benchmark = [
    path("releases/<str:version>/export/", exports.release_exports, name="release-exports"),
    path(
        "releases/<str:version>/export/<slug:export>.zip",
        exports.release_export_format,
        name="release-export-format",
    ),
    path(
        "releases/<str:version>/export/<slug:export>/",
        exports.release_export_start,
        name="release-export-start",
    ),
    path("runs/<int:pk>/export.zip", exports.run_export, name="run-export"),
]
