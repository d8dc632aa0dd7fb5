"""Addresses of estimates."""

from django.urls import path

from annotation.estimates import views

in_benchmark = [
    path("pools/<int:pk>/estimates/", views.pool_estimates, name="pool-estimates"),
]
