"""Addresses of scoring on a release, and of what moved there."""

from django.urls import path

from scoring.views import rescoring

in_benchmark = [
    path("v/<str:version>/rescoring/", rescoring.rescoring, name="rescoring"),
    path("v/<str:version>/moves/", rescoring.moves, name="moves"),
    path("v/<str:version>/moves.<str:format>", rescoring.moves_file, name="moves-file"),
]
