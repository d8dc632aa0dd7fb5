"""Addresses of pairs of embeddings and their contrastive accuracy."""

from django.urls import path

from scoring.contrastive import views

in_benchmark = [
    path("contrastive/", views.contrastive_list, name="contrastive-list"),
    path("contrastive/new/", views.contrastive_new, name="contrastive-new"),
    path("contrastive/<int:pk>/", views.contrastive_detail, name="contrastive-detail"),
    path("contrastive/<int:pk>/state/", views.contrastive_state, name="contrastive-state"),
    path("contrastive/<int:pk>/delete/", views.contrastive_delete, name="contrastive-delete"),
    path(
        "contrastive/<int:pk>/ranks.csv",
        views.contrastive_ranks_csv,
        name="contrastive-ranks-csv",
    ),
    path(
        "contrastive/<int:pk>/charts/<slug:contrastive_chart>.<str:format>",
        views.contrastive_chart,
        name="contrastive-chart",
    ),
]
