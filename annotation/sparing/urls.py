"""Addresses of sparing, below those of its pool."""

from django.urls import path

from annotation.sparing import views

in_benchmark = [
    path("pools/<int:pk>/sparing/", views.pool_sparing, name="pool-sparing"),
    path("pools/<int:pk>/sparing/stop/", views.pool_sparing_stop, name="pool-sparing-stop"),
]
