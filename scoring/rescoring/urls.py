"""Addresses of scoring on a release, and of what moved there."""

from django.urls import path

from scoring.rescoring import views

in_benchmark = [
    path("v/<str:version>/rescoring/", views.rescoring, name="rescoring"),
    path("v/<str:version>/moves/", views.moves, name="moves"),
    path("v/<str:version>/moves.<str:format>", views.moves_file, name="moves-file"),
]
