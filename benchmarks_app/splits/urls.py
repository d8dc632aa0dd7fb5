"""Splits, their proof, and the check against outside queries."""

from django.urls import path

from benchmarks_app.splits.views import contamination, splits

in_benchmark = [
    path("splits/", splits.split_detail, name="split-detail"),
    path("splits/preview/", splits.split_preview, name="split-preview"),
    path(
        "splits/preview/<str:recipe>/<slug:split_chart>.<str:format>",
        splits.split_preview_chart,
        name="split-preview-chart",
    ),
    path("splits/charts/<slug:split_chart>.<str:format>", splits.split_chart, name="split-chart"),
    path("splits/splits.tsv", splits.split_assignment, name="split-assignment"),
    path("splits/hide/", splits.split_hide, name="split-hide"),
    path("splits/leaks/", splits.leak_report_detail, name="leak-report-detail"),
    path("splits/leaks/differ/", splits.leak_differ, name="leak-differ"),
    path("splits/leaks/compute/", splits.leak_report_compute, name="leak-report-compute"),
    path("splits/leaks/report.<str:written>", splits.leak_report_file, name="leak-report-file"),
    path("splits/contamination/", contamination.contamination_list, name="contamination-list"),
    path("splits/contamination/new/", contamination.contamination_new, name="contamination-new"),
    path(
        "splits/contamination/<int:pk>/",
        contamination.contamination_detail,
        name="contamination-detail",
    ),
    path(
        "splits/contamination/<int:pk>/clean.tsv",
        contamination.contamination_clean,
        name="contamination-clean",
    ),
    path(
        "splits/contamination/<int:pk>/slice/",
        contamination.contamination_slice,
        name="contamination-slice",
    ),
    path(
        "splits/contamination/<int:pk>/delete/",
        contamination.contamination_delete,
        name="contamination-delete",
    ),
]
