"""Addresses of the guideline, and of questions about it."""

from django.urls import path

from annotation.guidelines import views

in_benchmark = [
    path("guideline/", views.guideline_detail, name="guideline-detail"),
    path("guideline/edit/", views.guideline_edit, name="guideline-edit"),
    path("questions/", views.question_list, name="question-list"),
    path("questions/<int:pk>/answer/", views.question_answer, name="question-answer"),
]
of_annotator = [
    path("questions/", views.my_question_list, name="my-question-list"),
]
