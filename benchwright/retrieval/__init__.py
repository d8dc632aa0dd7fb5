"""Sparse retrieval: exact, deterministic, without anything to train or to download."""

from benchwright.retrieval.sparse.index import Index, build_index
from benchwright.retrieval.sparse.systems import SYSTEMS, Parameters, System

__all__ = ["SYSTEMS", "Index", "Parameters", "System", "build_index"]
