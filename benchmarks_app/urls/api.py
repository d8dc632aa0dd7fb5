"""The one router: the shared nouns' endpoints, and the other apps' by their modules' names."""

from django.urls import include, path

from benchmarks_app.audit import api as audit
from benchmarks_app.clicks import api as clicks
from benchmarks_app.collections import api as collections
from benchmarks_app.families import api as families
from benchmarks_app.importing.api import corpora, imports
from benchmarks_app.jobs import api as jobs
from benchmarks_app.judges import api as judges
from benchmarks_app.logs import api as logs
from benchmarks_app.notices import api as notices
from benchmarks_app.people.api import me, people, site_people, teams
from benchmarks_app.queries import api as queries
from benchmarks_app.releases.api import exports, qrels, releases
from benchmarks_app.search import api as search
from benchmarks_app.slices import api as slices
from benchmarks_app.splits import api as splits

app_name = "api"
of_benchmark = [
    *collections.of_benchmark,
    path("qrels/<int:pk>/", qrels.QrelsDetail.as_view(), name="qrels-detail"),
    path("qrels/<int:pk>/map/", qrels.QrelsMap.as_view(), name="qrels-map"),
    path("qrels/<int:pk>/download/", qrels.QrelsDownload.as_view(), name="qrels-download"),
    *people.of_benchmark,
    *jobs.of_benchmark,
    *search.of_benchmark,
    *audit.of_benchmark,
    *imports.of_benchmark,
    *corpora.of_benchmark,
    *logs.of_benchmark,
    *families.of_benchmark,
    *slices.of_benchmark,
    *splits.of_benchmark,
    *queries.of_benchmark,
    *releases.of_benchmark,
    *exports.of_benchmark,
    *judges.of_benchmark,
    *notices.of_benchmark,
    *clicks.of_benchmark,
]
urlpatterns = [
    *me.urlpatterns,
    *notices.urlpatterns,
    *teams.urlpatterns,
    *corpora.urlpatterns,
    *search.urlpatterns,
    *site_people.urlpatterns,
    *audit.urlpatterns,
    path("benchmarks/", collections.BenchmarkList.as_view(), name="benchmark-list"),
    path("benchmarks/<slug:slug>/", include(of_benchmark)),
    *jobs.urlpatterns,
    path("", include("annotation.urls.api")),
    path("", include("scoring.urls.api")),
]
