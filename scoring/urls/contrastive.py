"""Addresses of pairs of embeddings and their contrastive accuracy."""

from django.urls import path

from scoring.views import contrastive

in_benchmark = [
    path("contrastive/", contrastive.contrastive_list, name="contrastive-list"),
    path("contrastive/new/", contrastive.contrastive_new, name="contrastive-new"),
    path("contrastive/<int:pk>/", contrastive.contrastive_detail, name="contrastive-detail"),
    path("contrastive/<int:pk>/state/", contrastive.contrastive_state, name="contrastive-state"),
    path("contrastive/<int:pk>/delete/", contrastive.contrastive_delete, name="contrastive-delete"),
    path(
        "contrastive/<int:pk>/ranks.csv",
        contrastive.contrastive_ranks_csv,
        name="contrastive-ranks-csv",
    ),
    path(
        "contrastive/<int:pk>/charts/<slug:contrastive_chart>.<str:format>",
        contrastive.contrastive_chart,
        name="contrastive-chart",
    ),
]
