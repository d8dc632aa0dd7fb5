"""Releases: drafted, published, read and exported."""

from django.urls import path

from benchmarks_app.views import releases

in_benchmark = [
    path("releases/", releases.release_list, name="release-list"),
    path("releases/new/", releases.release_new, name="release-new"),
    path("releases/<str:version>/", releases.release_detail, name="release-detail"),
    path("releases/<str:version>/beir.zip", releases.release_export, name="release-export"),
    path("releases/<str:version>/files/<path:name>", releases.release_file, name="release-file"),
]
