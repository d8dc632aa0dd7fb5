"""Reads of the shared nouns; what other modules and apps ask for most is here by name."""

from benchmarks_app.selectors.reading import (
    benchmark_documents,
    candidates_path,
    corpus_reader,
    qrels_of,
    release_file_path,
    release_qrels,
    release_queries,
    run_path,
    unknown_documents,
)

__all__ = [
    "benchmark_documents",
    "candidates_path",
    "corpus_reader",
    "qrels_of",
    "release_file_path",
    "release_qrels",
    "release_queries",
    "run_path",
    "unknown_documents",
]
