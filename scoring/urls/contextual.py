"""Addresses of contextual precision: cases, judges and verdicts."""

from django.urls import path

from scoring.views import (
    contextual,
    contextual_evaluations,
    contextual_judges,
    contextual_results,
)

JUDGE = "contextual/judges/<int:pk>/"
EVALUATION = "contextual/evaluations/<int:pk>/"
in_benchmark = [
    path("contextual/", contextual.contextual_list, name="contextual-list"),
    path("contextual/import/", contextual.contextual_import, name="contextual-import"),
    path(
        "contextual/judges/",
        contextual_judges.contextual_judge_list,
        name="contextual-judge-list",
    ),
    path(
        "contextual/judges/new/",
        contextual_judges.contextual_judge_new,
        name="contextual-judge-new",
    ),
    path(JUDGE, contextual_judges.contextual_judge_detail, name="contextual-judge-detail"),
    path(f"{JUDGE}edit/", contextual_judges.contextual_judge_edit, name="contextual-judge-edit"),
    path(f"{JUDGE}try/", contextual_judges.contextual_judge_try, name="contextual-judge-try"),
    path(f"{JUDGE}trial/", contextual_judges.contextual_judge_trial, name="contextual-judge-trial"),
    path(
        f"{JUDGE}delete/",
        contextual_judges.contextual_judge_delete,
        name="contextual-judge-delete",
    ),
    path(EVALUATION, contextual_evaluations.contextual_evaluation, name="contextual-evaluation"),
    path(
        f"{EVALUATION}progress/",
        contextual_evaluations.contextual_progress,
        name="contextual-progress",
    ),
    path(f"{EVALUATION}retry/", contextual_evaluations.contextual_retry, name="contextual-retry"),
    path(
        f"{EVALUATION}cancel/", contextual_evaluations.contextual_cancel, name="contextual-cancel"
    ),
    path(
        f"{EVALUATION}delete/",
        contextual_evaluations.contextual_evaluation_delete,
        name="contextual-evaluation-delete",
    ),
    path(
        f"{EVALUATION}scores.<str:format>",
        contextual_evaluations.contextual_chart,
        name="contextual-chart",
    ),
    path(
        f"{EVALUATION}results.<str:format>",
        contextual_results.contextual_export,
        name="contextual-export",
    ),
    path(
        f"{EVALUATION}cases/<int:number>/",
        contextual_results.contextual_case,
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
        contextual_evaluations.contextual_evaluation_new,
        name="contextual-evaluation-new",
    ),
    path(
        "contextual/<int:pk>/estimate/",
        contextual_evaluations.contextual_estimate,
        name="contextual-estimate",
    ),
    path(
        "contextual/<int:pk>/compare/",
        contextual_results.contextual_compare,
        name="contextual-compare",
    ),
]
