"""Addresses around the labeling page: before it, what is known, and one's own work."""

from django.urls import path

from annotation.views import guidelines, known_grades, own_work, starting

in_benchmark = [
    path("guideline/", guidelines.guideline_detail, name="guideline-detail"),
    path("guideline/edit/", guidelines.guideline_edit, name="guideline-edit"),
    path("questions/", guidelines.question_list, name="question-list"),
    path("questions/<int:pk>/answer/", guidelines.question_answer, name="question-answer"),
    path("pools/<int:pk>/known/", known_grades.known_grade_list, name="known-grade-list"),
    path(
        "pools/<int:pk>/known/import/", known_grades.known_grade_import, name="known-grade-import"
    ),
    path(
        "pools/<int:pk>/known/settled/",
        known_grades.known_grade_settled,
        name="known-grade-settled",
    ),
    path("pools/<int:pk>/known/share/", known_grades.known_grade_share, name="known-grade-share"),
    path("known/<int:pk>/remove/", known_grades.known_grade_remove, name="known-grade-remove"),
]
of_annotator = [
    path("<int:pk>/start/", starting.start, name="start"),
    path("practice/<int:pk>/", starting.practice, name="practice"),
    path("mine/", own_work.my_judgment_list, name="my-judgment-list"),
    path("mine/<int:pk>/", own_work.my_judgment_detail, name="my-judgment-detail"),
    path("questions/", guidelines.my_question_list, name="my-question-list"),
    path("hours/", own_work.my_hours, name="my-hours"),
    path("hours.csv", own_work.my_hours_csv, name="my-hours-csv"),
]
