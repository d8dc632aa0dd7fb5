"""Addresses of contextual precision: cases and verdicts."""

from django.urls import path

from scoring.contextual.views import contextual, evaluations, results, runs, verdicts

EVALUATION = "contextual/evaluations/<int:pk>/"
in_benchmark = [
    path("contextual/", contextual.contextual_list, name="contextual-list"),
    path("contextual/runs/<int:pk>/", runs.contextual_run, name="contextual-run"),
    path("contextual/runs/<int:pk>/new/", runs.contextual_run_new, name="contextual-run-new"),
    path("contextual/verdicts/", verdicts.contextual_verdicts, name="contextual-verdicts"),
    path(
        "contextual/<int:pk>/verdicts/",
        verdicts.contextual_verdict_case,
        name="contextual-verdict-case",
    ),
    path(
        "contextual/<int:pk>/verdicts/images/<int:image>/",
        verdicts.contextual_verdict_image,
        name="contextual-verdict-image",
    ),
    path(
        "contextual/<int:pk>/people/",
        verdicts.contextual_set_people,
        name="contextual-set-people",
    ),
    path("contextual/import/", contextual.contextual_import, name="contextual-import"),
    path(EVALUATION, evaluations.contextual_evaluation, name="contextual-evaluation"),
    path(
        f"{EVALUATION}progress/",
        evaluations.contextual_progress,
        name="contextual-progress",
    ),
    path(f"{EVALUATION}retry/", evaluations.contextual_retry, name="contextual-retry"),
    path(f"{EVALUATION}cancel/", evaluations.contextual_cancel, name="contextual-cancel"),
    path(
        f"{EVALUATION}delete/",
        evaluations.contextual_evaluation_delete,
        name="contextual-evaluation-delete",
    ),
    path(
        f"{EVALUATION}scores.<str:format>",
        evaluations.contextual_chart,
        name="contextual-chart",
    ),
    path(
        f"{EVALUATION}results.<str:format>",
        results.contextual_export,
        name="contextual-export",
    ),
    path(
        f"{EVALUATION}cases/<int:number>/",
        results.contextual_case,
        name="contextual-case",
    ),
    path("contextual/<int:pk>/", contextual.contextual_set, name="contextual-set"),
    path(
        "contextual/<int:pk>/delete/",
        contextual.contextual_set_delete,
        name="contextual-set-delete",
    ),
    path(
        "contextual/<int:pk>/images/<int:image>/",
        contextual.contextual_image,
        name="contextual-image",
    ),
    path(
        "contextual/<int:pk>/evaluate/",
        evaluations.contextual_evaluation_new,
        name="contextual-evaluation-new",
    ),
    path(
        "contextual/<int:pk>/estimate/",
        evaluations.contextual_estimate,
        name="contextual-estimate",
    ),
    path(
        "contextual/<int:pk>/compare/",
        results.contextual_compare,
        name="contextual-compare",
    ),
]
