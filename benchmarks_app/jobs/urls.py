"""Addresses of background work."""

from django.urls import path

from benchmarks_app.jobs import views

in_benchmark = [
    path("jobs/", views.job_list, name="job-list"),
]
urlpatterns = [
    path("jobs/<int:pk>/", views.job_detail, name="job-detail"),
    path("jobs/<int:pk>/progress/", views.job_progress, name="job-progress"),
    path("jobs/<int:pk>/retry/", views.job_retry, name="job-retry"),
    path("jobs/<int:pk>/cancel/", views.job_cancel, name="job-cancel"),
]
