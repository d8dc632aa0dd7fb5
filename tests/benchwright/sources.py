"""Releases made in memory, for tests of what reads them."""

from collections.abc import Mapping
from typing import Any

from benchmarks_app.releases.selectors import SourceQuery
from benchwright.corpora.store import StoredDocument
from benchwright.formats.beir_writing import metadata_shape
from benchwright.releases.source import ReleaseSource

SCALE = (
    {"value": 0, "name": "no", "is_relevant": False},
    {"value": 1, "name": "related", "is_relevant": False},
    {"value": 2, "name": "yes", "is_relevant": True},
)
Grades = Mapping[str, Mapping[tuple[str, str], int]]


def in_bytes(items):
    return sorted(items, key=lambda item: str(item).encode())


def made_source(
    grades: Grades,
    *,
    texts: Mapping[str, str] | None = None,
    metadata: Mapping[str, Mapping[str, Any]] | None = None,
    documents: Mapping[str, str] | None = None,
    document_metadata: str = "{}",
    hidden: tuple[str, ...] = (),
    **values: Any,
) -> ReleaseSource:
    """A release with {split: {(query, document): grade}}; queries have their id as text."""
    asked = dict.fromkeys(in_bytes({qid for rows in grades.values() for qid, _ in rows}))
    texts = {**{qid: f"about {qid}" for qid in asked}, **(texts or {})}
    queries = [
        SourceQuery(qid, texts[qid], (metadata or {}).get(qid, {})) for qid in in_bytes(texts)
    ]
    kept = [
        StoredDocument(docid, "", text, document_metadata)
        for docid, text in sorted((documents or {}).items(), key=lambda row: row[0].encode())
    ]
    facts = {
        "slug": "toy",
        "version": "1.0.0",
        "title": "Toy",
        "description": "A toy.",
        "unit": "document",
        "lang": "en",
        "licence": "CC0-1.0",
        "citation": "",
        "threshold": 2,
        "grades": SCALE,
        "splits": tuple(sorted(grades)),
        "hidden": hidden,
        "queries": lambda: iter(queries),
        "query_shape": metadata_shape(query.metadata for query in queries),
        "qrels": lambda split: (
            (qid, docid, grades[split][qid, docid])
            for qid, docid in sorted(
                grades[split], key=lambda pair: (pair[0].encode(), pair[1].encode())
            )
        ),
        "documents": (lambda: iter(kept)) if documents is not None else None,
        "document_shape": metadata_shape(document.metadata for document in kept),
    }
    return ReleaseSource(**{**facts, **values})
