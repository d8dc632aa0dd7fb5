"""The root URLs; each area lists its own, and the other apps are named only as strings."""

from django.contrib import admin
from django.urls import include, path

from benchmarks_app.api import docs
from benchmarks_app.urls import (
    corpora,
    exports,
    families,
    imports,
    logs,
    releases,
    slices,
    splits,
    teams,
)
from benchmarks_app.views import (
    account,
    benchmarks,
    charts,
    jobs,
    people,
    qrels,
    queries,
    runs,
    site,
)

in_benchmark = [
    path("", benchmarks.benchmark_detail, name="benchmark-detail"),
    path("settings/", benchmarks.benchmark_settings, name="benchmark-settings"),
    path("activity/", benchmarks.activity_list, name="activity-list"),
    path("queries/", queries.query_list, name="query-list"),
    path("queries/<int:pk>/", queries.query_detail, name="query-detail"),
    path("documents/<path:docid>/", queries.document_detail, name="document-detail"),
    path("runs/", runs.run_list, name="run-list"),
    path("runs/<int:pk>/", runs.run_detail, name="run-detail"),
    path("qrels/", qrels.qrels_list, name="qrels-list"),
    path("qrels/<int:pk>/map/", qrels.qrels_map, name="qrels-map"),
    path("qrels/<int:pk>/delete/", qrels.qrels_delete, name="qrels-delete"),
    path("qrels/<int:pk>/download/", qrels.qrels_download, name="qrels-download"),
    path("people/", people.people_list, name="people-list"),
    path("people/invite/", people.invitation_create, name="invitation-create"),
    path("people/invitations/<int:pk>/revoke/", people.invitation_revoke, name="invitation-revoke"),
    path("people/<int:pk>/role/", people.member_role, name="member-role"),
    path("people/<int:pk>/blindness/", people.member_blindness, name="member-blindness"),
    path("people/<int:pk>/remove/", people.member_remove, name="member-remove"),
    path("jobs/", jobs.job_list, name="job-list"),
    *imports.in_benchmark,
    *corpora.in_benchmark,
    *logs.in_benchmark,
    *families.in_benchmark,
    *slices.in_benchmark,
    *splits.in_benchmark,
    *releases.in_benchmark,
    *exports.in_benchmark,
]
handler400 = "benchmarks_app.views.refusals.bad_request"
handler404 = "benchmarks_app.views.refusals.not_found"
handler500 = "benchmarks_app.views.refusals.broken"
urlpatterns = [
    path("", site.home, name="home"),
    path("new/", benchmarks.benchmark_new, name="benchmark-new"),
    path("healthz", site.healthz, name="healthz"),
    path("readyz", site.readyz, name="readyz"),
    path("system/", site.system, name="system"),
    path("join/<str:secret>/", people.invitation_accept, name="invitation-accept"),
    path("charts/vega-<slug:digest>.js", charts.chart_bundle, name="chart-bundle"),
    path("jobs/<int:pk>/", jobs.job_detail, name="job-detail"),
    path("jobs/<int:pk>/progress/", jobs.job_progress, name="job-progress"),
    path("jobs/<int:pk>/retry/", jobs.job_retry, name="job-retry"),
    path("jobs/<int:pk>/cancel/", jobs.job_cancel, name="job-cancel"),
    path("account/", account.account_detail, name="account-detail"),
    path("account/tokens/", account.api_token_create, name="api-token-create"),
    path("account/tokens/<int:pk>/revoke/", account.api_token_revoke, name="api-token-revoke"),
    path("sign-in/", account.SignIn.as_view(), name="sign-in"),
    path("sign-out/", account.SignOut.as_view(), name="sign-out"),
    path("password/change/", account.PasswordChange.as_view(), name="password-change"),
    path("password/reset/", account.PasswordReset.as_view(), name="password-reset"),
    path("password/reset/sent/", account.PasswordResetSent.as_view(), name="password-reset-sent"),
    path(
        "password/reset/<uidb64>/<token>/",
        account.PasswordResetConfirm.as_view(),
        name="password-reset-confirm",
    ),
    *corpora.urlpatterns,
    *teams.urlpatterns,
    path("b/<slug:slug>/", include(in_benchmark)),
    path("api/v1/", include("benchmarks_app.api.urls")),
    path("api/v1/schema/", docs.ApiSchema.as_view(), name="api-schema"),
    path("api/docs/", docs.ApiDocs.as_view(), name="api-docs"),
    path("", include("annotation.urls")),
    path("", include("scoring.urls")),
    path("admin/", admin.site.urls),
]
