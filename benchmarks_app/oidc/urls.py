"""Addresses of signing in through a provider; without one they are not there (404)."""

from django.urls import path

from benchmarks_app.oidc import views

urlpatterns = [
    path("sign-in/provider/", views.provider_sign_in, name="provider-sign-in"),
    path("sign-in/provider/callback/", views.provider_callback, name="provider-callback"),
]
