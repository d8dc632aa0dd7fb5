"""The address that Prometheus asks."""

from django.urls import path

from benchmarks_app.operating import views

urlpatterns = [path("metrics", views.metrics, name="metrics")]
