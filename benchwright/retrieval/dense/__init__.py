"""Retrieval by vectors: exact, in bounded memory, from matrices in memory or in files."""

from benchwright.retrieval.dense.embeddings import SIMILARITIES, Embeddings, embeddings
from benchwright.retrieval.dense.index import DenseIndex
from benchwright.retrieval.dense.reading import read_embeddings

__all__ = ["SIMILARITIES", "DenseIndex", "Embeddings", "embeddings", "read_embeddings"]
