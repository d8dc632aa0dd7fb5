"""Addresses of phases."""

from django.urls import path

from scoring.submissions.views import phases

in_benchmark = [
    path("phases/", phases.phase_list, name="phase-list"),
    path("phases/new/", phases.phase_new, name="phase-new"),
    path("phases/<int:pk>/", phases.phase_detail, name="phase-detail"),
    path("phases/<int:pk>/edit/", phases.phase_edit, name="phase-edit"),
    path("phases/<int:pk>/close/", phases.phase_close, name="phase-close"),
]
