"""Sparse retrieval: exact, deterministic, without anything to train or to download.

Its matrices are scipy's, which a process that only names a system never loads.
"""

from typing import TYPE_CHECKING

from benchwright.lazily import lazily

if TYPE_CHECKING:
    from benchwright.retrieval.sparse.index import Index, build_index
    from benchwright.retrieval.sparse.systems import SYSTEMS, Parameters, System

__all__ = ["SYSTEMS", "Index", "Parameters", "System", "build_index"]

__getattr__ = lazily(
    __name__,
    {
        "SYSTEMS": "benchwright.retrieval.sparse.systems",
        "Index": "benchwright.retrieval.sparse.index",
        "Parameters": "benchwright.retrieval.sparse.systems",
        "System": "benchwright.retrieval.sparse.systems",
        "build_index": "benchwright.retrieval.sparse.index",
    },
)
