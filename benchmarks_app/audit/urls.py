"""Addresses of the audit log: of a benchmark, and of the site."""

from django.urls import path

from benchmarks_app.audit import views

in_benchmark = [
    path("activity/", views.activity_list, name="activity-list"),
    path("activity/export/", views.activity_export, name="activity-export"),
]
urlpatterns = [
    path("system/audit/", views.audit_log, name="audit-log"),
    path("system/audit/export/", views.audit_export, name="audit-export"),
]
