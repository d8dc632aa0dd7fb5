"""The one router: the shared nouns' endpoints, and the other apps' by their modules' names."""

from django.urls import include, path

from benchmarks_app.api import (
    audit,
    corpora,
    exports,
    families,
    imports,
    jobs,
    logs,
    me,
    people,
    releases,
    site_people,
    slices,
    splits,
    views,
)

app_name = "api"
of_benchmark = [
    path("", views.BenchmarkDetail.as_view(), name="benchmark-detail"),
    path("qrels/<int:pk>/", views.QrelsDetail.as_view(), name="qrels-detail"),
    path("qrels/<int:pk>/map/", views.QrelsMap.as_view(), name="qrels-map"),
    path("qrels/<int:pk>/download/", views.QrelsDownload.as_view(), name="qrels-download"),
    *people.of_benchmark,
    *audit.of_benchmark,
    *imports.of_benchmark,
    *corpora.of_benchmark,
    *logs.of_benchmark,
    *families.of_benchmark,
    *slices.of_benchmark,
    *splits.of_benchmark,
    *releases.of_benchmark,
    *exports.of_benchmark,
]
urlpatterns = [
    *me.urlpatterns,
    *site_people.urlpatterns,
    *audit.urlpatterns,
    path("benchmarks/", views.BenchmarkList.as_view(), name="benchmark-list"),
    path("benchmarks/<slug:slug>/", include(of_benchmark)),
    path("jobs/<int:pk>/", views.JobDetail.as_view(), name="job-detail"),
    *jobs.urlpatterns,
    path("", include("annotation.urls.api")),
    path("", include("scoring.urls.api")),
]
