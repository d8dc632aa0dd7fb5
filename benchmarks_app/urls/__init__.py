"""The root URLs; each feature lists its own, and the other apps are named only as strings."""

from django.contrib import admin
from django.urls import include, path

from benchmarks_app import steps  # noqa: F401  # what pages show, which nobody asks for before
from benchmarks_app.api import docs
from benchmarks_app.audit import urls as audit
from benchmarks_app.clicks import urls as clicks
from benchmarks_app.collections import urls as collections
from benchmarks_app.families import urls as families
from benchmarks_app.importing import urls as importing
from benchmarks_app.jobs import urls as jobs
from benchmarks_app.judges import urls as judges
from benchmarks_app.logs import urls as logs
from benchmarks_app.notices import urls as notices
from benchmarks_app.oidc import urls as oidc
from benchmarks_app.operating import urls as operating
from benchmarks_app.people import urls as people
from benchmarks_app.queries import urls as queries
from benchmarks_app.releases import urls as releases
from benchmarks_app.search import urls as search
from benchmarks_app.site import urls as site
from benchmarks_app.slices import urls as slices
from benchmarks_app.splits import urls as splits

in_benchmark = [
    *collections.in_benchmark,
    *audit.in_benchmark,
    *queries.in_benchmark,
    *search.in_benchmark,
    *clicks.in_benchmark,
    *people.in_benchmark,
    *jobs.in_benchmark,
    *importing.in_benchmark,
    *logs.in_benchmark,
    *families.in_benchmark,
    *slices.in_benchmark,
    *splits.in_benchmark,
    *releases.in_benchmark,
    *judges.in_benchmark,
    *notices.in_benchmark,
]
handler400 = "benchmarks_app.common.views.bad_request"
handler403 = "benchmarks_app.common.views.not_allowed"
handler404 = "benchmarks_app.common.views.not_found"
handler500 = "benchmarks_app.common.views.broken"
urlpatterns = [
    *site.urlpatterns,
    *operating.urlpatterns,
    *search.urlpatterns,
    *collections.urlpatterns,
    *audit.urlpatterns,
    *people.urlpatterns,
    *jobs.urlpatterns,
    *oidc.urlpatterns,
    *importing.urlpatterns,
    *notices.urlpatterns,
    path("b/<slug:slug>/", include(in_benchmark)),
    path("api/v1/", include("benchmarks_app.urls.api")),
    path("api/v1/schema/", docs.ApiSchema.as_view(), name="api-schema"),
    path("api/docs/", docs.ApiDocs.as_view(), name="api-docs"),
    path("", include("annotation.urls")),
    path("", include("scoring.urls")),
    path("admin/", admin.site.urls),
]
