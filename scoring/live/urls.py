"""Addresses of systems that answer searches while they are asked."""

from django.urls import path

from scoring.live import views

in_benchmark = [
    path("live/", views.live_list, name="live-list"),
    path("live/new/", views.live_new, name="live-new"),
    path("live/<int:pk>/", views.live_detail, name="live-detail"),
    path("live/<int:pk>/edit/", views.live_edit, name="live-edit"),
    path("live/<int:pk>/delete/", views.live_delete, name="live-delete"),
    path("live/<int:pk>/try/", views.live_try, name="live-try"),
    path("live/<int:pk>/ask/", views.live_ask, name="live-ask"),
]
