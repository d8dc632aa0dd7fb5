"""Families of queries: grouped, reviewed."""

from django.urls import path

from benchmarks_app.views import families

in_benchmark = [
    path("families/", families.family_list, name="family-list"),
    path("families/review/", families.family_review, name="family-review"),
    path("families/group/", families.family_group, name="family-group"),
    path("families/undo/", families.family_undo, name="family-undo"),
    path("families/confirm/", families.family_confirm_several, name="family-confirm-several"),
    path("families/<int:pk>/", families.family_detail, name="family-detail"),
    path("families/<int:pk>/decide/", families.family_decide, name="family-decide"),
]
