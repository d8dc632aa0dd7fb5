"""A corpus: its versions, and snapshots on their way in."""

from django.urls import path

from benchmarks_app.importing.views import corpora

urlpatterns = [
    path("corpora/", corpora.corpus_list, name="corpus-list"),
]
in_benchmark = [
    path("corpus/", corpora.corpus_detail, name="corpus-detail"),
    path("corpus/versions/<int:number>/", corpora.corpus_version, name="corpus-version"),
    path("corpus/versions/<int:number>/take/", corpora.snapshot_take, name="snapshot-take"),
    path(
        "corpus/versions/<int:number>/discard/", corpora.snapshot_discard, name="snapshot-discard"
    ),
    path("import/fetch/", corpora.fetch_new, name="fetch-new"),
    path("qrels/by-document/", corpora.document_grades_new, name="document-grades-new"),
]
