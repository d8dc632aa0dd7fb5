"""Addresses of submitted embeddings."""

from django.urls import path

from scoring.submissions.views import embeddings

in_benchmark = [
    path("runs/submissions/embeddings/new/", embeddings.embedding_new, name="embedding-new"),
]
