"""Families of queries: grouped, reviewed."""

from django.urls import path

from benchmarks_app.families import views

in_benchmark = [
    path("families/", views.family_list, name="family-list"),
    path("families/review/", views.family_review, name="family-review"),
    path("families/group/", views.family_group, name="family-group"),
    path("families/undo/", views.family_undo, name="family-undo"),
    path("families/confirm/", views.family_confirm_several, name="family-confirm-several"),
    path("families/<int:pk>/", views.family_detail, name="family-detail"),
    path("families/<int:pk>/decide/", views.family_decide, name="family-decide"),
]
