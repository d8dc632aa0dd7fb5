"""Queries from a log: uploaded, masked, sampled."""

from django.urls import path

from benchmarks_app.views import logs

in_benchmark = [
    path("queries/log/", logs.log_list, name="log-list"),
    path("queries/log/waiting/<int:pk>/", logs.log_columns, name="log-columns"),
    path("queries/log/waiting/<int:pk>/discard/", logs.log_discard, name="log-discard"),
    path("queries/log/<int:pk>/", logs.log_detail, name="log-detail"),
    path(
        "queries/log/<int:pk>/curve-<int:head>-<int:tail>.<str:format>",
        logs.log_curve,
        name="log-curve",
    ),
    path("queries/sample/", logs.sample_new, name="sample-new"),
    path("queries/sample/preview/", logs.sample_preview, name="sample-preview"),
]
