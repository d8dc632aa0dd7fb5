"""Addresses of judges; they lie below contextual precision's, where they have always been."""

from django.urls import path

from benchmarks_app.judges import views

JUDGE = "contextual/judges/<int:pk>/"
in_benchmark = [
    path("contextual/judges/", views.judge_list, name="judge-list"),
    path("contextual/judges/new/", views.judge_new, name="judge-new"),
    path(JUDGE, views.judge_detail, name="judge-detail"),
    path(f"{JUDGE}edit/", views.judge_edit, name="judge-edit"),
    path(f"{JUDGE}try/", views.judge_try, name="judge-try"),
    path(f"{JUDGE}trial/", views.judge_trial, name="judge-trial"),
    path(f"{JUDGE}delete/", views.judge_delete, name="judge-delete"),
]
