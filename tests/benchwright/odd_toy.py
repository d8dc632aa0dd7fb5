"""Releases made by hand, without a database: what exporters and linters are tested on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchwright.formats.beir_writing import metadata_shape
from benchwright.releases.source import ReleaseSource


@dataclass(frozen=True)
class Document:
    docid: str
    title: str = ""
    text: str = "text"
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Query:
    qid: str
    text: str = "words"
    metadata: Mapping[str, Any] = field(default_factory=dict)


# Everything that a format may stumble over: quotes, a tab, a line feed, CJK, U+2028, no title, an
# id that looks like a number, a query with zeros only, one that nobody judged, two splits.
DOCUMENTS = (
    Document("123", "A number", "1 2 3", {"url": "u1"}),
    Document("d-cjk", "漢字", "日本語のテキスト", {"url": None}),
    Document("d-empty", "", "", {}),
    Document("d-line", "Lines", "first\nsecond\r\nthird\u2028fourth\x85fifth", {}),
    Document("d-quote", 'A "quoted" title', "\"quoted\" and 'quoted'", {}),
    Document("d-tab", "Tab", "before\tafter", {}),
    Document("d-tag", "", "<b>bold</b> & more </title>", {}),
)
QUERIES = (
    Query("q-all-zero", "nothing helps", {"description": "", "narrative": ""}),
    Query("q-cjk", "漢字とは", {"description": "What is kanji?", "narrative": "Line\none"}),
    Query("q-quote", '"what" is\tthis', {"description": "", "narrative": ""}),
    Query("q-topic", "Topic: of the day", {"description": "", "narrative": ""}),
    Query("q-unjudged", "who knows", {"description": "", "narrative": ""}),
)
QRELS = {
    "dev": [("q-all-zero", "123", 0), ("q-all-zero", "d-tab", 0), ("q-topic", "d-tag", 1)],
    "test": [
        ("q-cjk", "d-cjk", 3),
        ("q-cjk", "d-empty", 1),
        ("q-quote", "d-line", 0),
        ("q-quote", "d-quote", 2),
    ],
}
GRADES = (
    {"value": 0, "name": "no", "is_relevant": False},
    {"value": 1, "name": "some", "is_relevant": True},
    {"value": 2, "name": "yes", "is_relevant": True},
    {"value": 3, "name": "all", "is_relevant": True},
)


def source(
    *,
    documents: Iterable[Document] | None = DOCUMENTS,
    queries: Iterable[Query] = QUERIES,
    qrels: Mapping[str, list[tuple[str, str, Any]]] = QRELS,
    **facts: Any,
) -> ReleaseSource:
    """A release of these contents; every other fact has a default."""
    texts, asked = None if documents is None else list(documents), list(queries)
    fields: dict[str, Any] = {
        "slug": "toy",
        "version": "1.0.0",
        "title": "Toy",
        "description": "A toy of odd characters.",
        "unit": "document",
        "lang": "en",
        "licence": "CC-BY-4.0",
        "citation": "@misc{toy}",
        "threshold": 1,
        "grades": GRADES,
        "hidden": (),
        "slices": {"odd": ("q-cjk", "q-quote"), "head": ("q-cjk",)},
        "families": {query.qid: query.qid for query in asked},
        "weights": {"q-cjk": 2.5},
        "manifest": {"benchmark": "toy", "files": {}, "grades": list(GRADES)},
    }
    return ReleaseSource(
        **(fields | facts),
        splits=tuple(sorted(qrels)),
        queries=lambda: iter(asked),
        query_shape=metadata_shape(query.metadata for query in asked),
        qrels=lambda split: iter(qrels[split]),
        documents=None if texts is None else lambda: iter(texts),
        document_shape=metadata_shape(document.metadata for document in texts or ()),
    )
