"""Releases, drafted, published, read and exported; runs exported; sets of qrels."""

from django.urls import path

from benchmarks_app.releases.views import exports, qrels, releases

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
    path("qrels/", qrels.qrels_list, name="qrels-list"),
    path("qrels/<int:pk>/map/", qrels.qrels_map, name="qrels-map"),
    path("qrels/<int:pk>/delete/", qrels.qrels_delete, name="qrels-delete"),
    path("qrels/<int:pk>/download/", qrels.qrels_download, name="qrels-download"),
    path("releases/", releases.release_list, name="release-list"),
    path("releases/new/", releases.release_new, name="release-new"),
    path("releases/drafts/<int:pk>/", releases.release_draft, name="release-draft"),
    path("releases/drafts/<int:pk>/edit/", releases.release_draft_edit, name="release-draft-edit"),
    path(
        "releases/drafts/<int:pk>/check/", releases.release_draft_check, name="release-draft-check"
    ),
    path(
        "releases/drafts/<int:pk>/delete/",
        releases.release_draft_delete,
        name="release-draft-delete",
    ),
    path("releases/<str:version>/", releases.release_detail, name="release-detail"),
    path("releases/<str:version>/card/", releases.release_card, name="release-card"),
    path("releases/<str:version>/deprecate/", releases.release_deprecate, name="release-deprecate"),
    path("releases/<str:version>/beir.zip", releases.release_export, name="release-export"),
    path("releases/<str:version>/files/", releases.release_files, name="release-files"),
    path("releases/<str:version>/files/<path:name>", releases.release_file, name="release-file"),
]
