"""Addresses of teams."""

from django.urls import path

from benchmarks_app.people.views import teams

urlpatterns = [
    path("teams/", teams.team_list, name="team-list"),
    path("teams/<int:pk>/", teams.team_detail, name="team-detail"),
    path("teams/<int:pk>/add/", teams.team_add, name="team-add"),
    path("teams/<int:pk>/link/", teams.team_link, name="team-link"),
    path("teams/<int:pk>/leave/", teams.team_leave, name="team-leave"),
    path("teams/join/<str:ticket>/", teams.team_join, name="team-join"),
]
