"""Sparse retrieval: exact, deterministic, without anything to train or to download."""

from scoring.core.retrieval.index import Index, build_index
from scoring.core.retrieval.systems import SYSTEMS, Parameters, System

__all__ = ["SYSTEMS", "Index", "Parameters", "System", "build_index"]
