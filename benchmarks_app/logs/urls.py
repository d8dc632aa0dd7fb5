"""Queries from a log: uploaded, masked, sampled."""

from django.urls import path

from benchmarks_app.logs import views

in_benchmark = [
    path("queries/log/", views.log_list, name="log-list"),
    path("queries/log/waiting/<int:pk>/", views.log_columns, name="log-columns"),
    path("queries/log/waiting/<int:pk>/discard/", views.log_discard, name="log-discard"),
    path("queries/log/<int:pk>/", views.log_detail, name="log-detail"),
    path(
        "queries/log/<int:pk>/curve-<int:head>-<int:tail>.<str:format>",
        views.log_curve,
        name="log-curve",
    ),
    path("queries/sample/", views.sample_new, name="sample-new"),
    path("queries/sample/preview/", views.sample_preview, name="sample-preview"),
]
