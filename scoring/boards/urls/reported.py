"""Addresses of values reported from elsewhere."""

from django.urls import path

from scoring.boards.views import reported

in_benchmark = [
    path("leaderboard/reported/", reported.reported_list, name="reported-list"),
    path("leaderboard/reported/new/", reported.reported_new, name="reported-new"),
    path("leaderboard/reported/<int:pk>/edit/", reported.reported_edit, name="reported-edit"),
    path("leaderboard/reported/<int:pk>/delete/", reported.reported_delete, name="reported-delete"),
]
