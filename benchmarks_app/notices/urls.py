"""Addresses of webhooks, and of mails."""

from django.urls import path

from benchmarks_app.notices import views

WEBHOOK = "webhooks/<int:pk>/"
in_benchmark = [
    path("webhooks/", views.webhook_list, name="webhook-list"),
    path(WEBHOOK, views.webhook_detail, name="webhook-detail"),
    path(f"{WEBHOOK}secret/", views.webhook_secret, name="webhook-secret"),
    path(f"{WEBHOOK}test/", views.webhook_test, name="webhook-test"),
    path(f"{WEBHOOK}delete/", views.webhook_delete, name="webhook-delete"),
    path(f"{WEBHOOK}sent/<int:delivery>/", views.webhook_resend, name="webhook-resend"),
]
urlpatterns = [
    path("account/mails/", views.mail_choices, name="mail-choices"),
    path("mails/stop/<str:stop>/", views.mail_stop, name="mail-stop"),
]
