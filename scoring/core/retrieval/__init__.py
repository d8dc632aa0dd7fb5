"""Lexical retrieval systems: exact, deterministic, without anything to train or to download."""

from scoring.core.retrieval.index import Index
from scoring.core.retrieval.systems import SYSTEMS, System, build_index

__all__ = ["SYSTEMS", "Index", "System", "build_index"]
