"""Retrieval by vectors: exact, in bounded memory, from matrices in memory or in files."""

from scoring.core.retrieval.dense.embeddings import SIMILARITIES, Embeddings, embeddings
from scoring.core.retrieval.dense.index import DenseIndex
from scoring.core.retrieval.dense.reading import read_embeddings

__all__ = ["SIMILARITIES", "DenseIndex", "Embeddings", "embeddings", "read_embeddings"]
