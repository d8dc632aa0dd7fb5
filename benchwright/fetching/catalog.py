"""Collections that ir_datasets knows, as rows of BEIR's files; it brings them by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchwright.fetching.download import Tell
from benchwright.fetching.errors import CollectionNameError, CollectionShapeError
from benchwright.fetching.names import Collection

TOLD_EVERY = 5_000
SPLITS = ("train", "dev", "test")
# Fields of a document that are its id, title and text under other names.
TEXTS = ("text", "body", "abstract", "contents", "default_text")
TITLES = ("title", "headline")


def open_dataset(collection: Collection) -> IrDataset:
    """Return the collection of an ir_datasets id.

    Raises
    ------
    CollectionNameError
        If ir_datasets knows none of this id.
    CollectionShapeError
        If it has no documents or no queries.
    """
    import ir_datasets  # type: ignore[import-untyped]  # has none

    try:
        dataset = ir_datasets.load(collection.name)
    except KeyError as error:
        why = "ir_datasets knows no such id; its list is at ir-datasets.com."
        raise CollectionNameError(given=str(collection), why=why) from error
    for has, what in ((dataset.has_docs(), "documents"), (dataset.has_queries(), "queries")):
        if not has:
            why = f"this id has no {what}. Name one that has both, such as {collection}/test."
            raise CollectionShapeError(name=str(collection), why=why)
    return IrDataset(str(collection), dataset)


def split_of(collection: Collection) -> str:
    """Return the split that an id names, and test where it names none.

    Examples
    --------
    >>> from benchwright.fetching.names import read_collection
    >>> [split_of(read_collection(f"irds:{one}")) for one in ("beir/scifact/train", "vaswani")]
    ['train', 'test']
    """
    parts = collection.name.lower().split("/")
    return next((part for part in reversed(parts) if part in SPLITS), "test")


@dataclass(frozen=True)
class IrDataset:
    """A data set of ir_datasets, each kind of row as BEIR writes it."""

    name: str
    dataset: Any

    @property
    def has_qrels(self) -> bool:
        return bool(self.dataset.has_qrels())

    def documents(self, tell: Tell) -> Iterator[dict[str, Any]]:
        """Yield the documents; what is neither title nor text becomes metadata."""
        total = int(self.dataset.docs_count() or 0)
        for number, document in enumerate(self.dataset.docs_iter(), start=1):
            if number % TOLD_EVERY == 0:
                tell(number, total, f"{number:,} documents of {self.name}")
            yield _row(document, "doc_id", _document_text(document))

    def queries(self) -> Iterator[dict[str, Any]]:
        for query in self.dataset.queries_iter():
            text = getattr(query, "text", None) or getattr(query, "title", None)
            yield _row(query, "query_id", ("", str(text or query.default_text())))

    def qrels(self) -> Iterator[tuple[str, str, int]]:
        for row in self.dataset.qrels_iter():
            yield row.query_id, row.doc_id, int(row.relevance)


def _document_text(document: Any) -> tuple[str, str]:
    """Title and text; where no field is the text, what ir_datasets itself takes for it."""
    fields = set(document._fields)
    title = next((str(getattr(document, name) or "") for name in TITLES if name in fields), "")
    for name in TEXTS:
        if name in fields:
            return title, str(getattr(document, name) or "")
    return "", str(document.default_text())


def _row(record: Any, key: str, texts: tuple[str, str]) -> dict[str, Any]:
    title, text = texts
    used = {key, "text", *TITLES}
    others = {name: getattr(record, name) for name in record._fields if name not in used}
    metadata = {name: value for name, value in others.items() if _is_plain(value) and value != text}
    row = {"_id": getattr(record, key), "text": text, "metadata": metadata}
    return {**row, "title": title} if key == "doc_id" else row


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | int | float | bool)
