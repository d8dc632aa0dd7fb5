"""Reads of the shared nouns; what other modules and apps ask for most is here by name."""

from benchmarks_app.selectors.reading import (
    benchmark_documents,
    candidates_path,
    corpus_documents,
    corpus_reader,
    documents_in_unit,
    measures_documents_of_passages,
    n_documents_in_unit,
    passages_of,
    qrels_of,
    release_file_path,
    release_qrels,
    release_queries,
    run_path,
    unknown_documents,
)
from benchmarks_app.selectors.release_sources import (
    hidden_queries,
    release_families,
    release_slices,
    release_source,
    release_splits,
    release_weights,
)

__all__ = [
    "benchmark_documents",
    "candidates_path",
    "corpus_documents",
    "corpus_reader",
    "documents_in_unit",
    "hidden_queries",
    "measures_documents_of_passages",
    "n_documents_in_unit",
    "passages_of",
    "qrels_of",
    "release_families",
    "release_file_path",
    "release_qrels",
    "release_queries",
    "release_slices",
    "release_source",
    "release_splits",
    "release_weights",
    "run_path",
    "unknown_documents",
]
