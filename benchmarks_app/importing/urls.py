"""Files on their way in; a corpus: its versions, and snapshots on their way in."""

from django.urls import path

from benchmarks_app.importing.views import corpora, imports

in_benchmark = [
    path("corpus/", corpora.corpus_detail, name="corpus-detail"),
    path("corpus/versions/<int:number>/", corpora.corpus_version, name="corpus-version"),
    path("corpus/versions/<int:number>/take/", corpora.snapshot_take, name="snapshot-take"),
    path(
        "corpus/versions/<int:number>/discard/", corpora.snapshot_discard, name="snapshot-discard"
    ),
    path("import/fetch/", corpora.fetch_new, name="fetch-new"),
    path("qrels/by-document/", corpora.document_grades_new, name="document-grades-new"),
    path("import/", imports.import_new, name="import-new"),
    path("import/all/", imports.import_all, name="import-all"),
    path("import/<int:pk>/", imports.import_preview, name="import-preview"),
    path("import/<int:pk>/decide/", imports.import_decide, name="import-decide"),
    path("import/<int:pk>/remove/", imports.import_remove, name="import-remove"),
]
urlpatterns = [
    path("corpora/", corpora.corpus_list, name="corpus-list"),
]
