"""What a benchmark holds as one digest, equal however it was written down.

The content digest is the SHA-256 of a small JSON object that names the SHA-256 of each part. Every
part is a stream of lines, UTF-8, each ended by a line feed, in the order of the bytes of its ids:

- `documents`: JSON of `_id`, `title`, `text`, `metadata`, as `corpus.jsonl` has them, without
  metadata that is null. Null where nobody may read the texts.
- `queries`: JSON of `_id`, `text`, `metadata`, without the family (it is a part of its own) and
  without metadata that is null or empty.
- `families`: query and family, where a family is called by the smallest id of its queries.
- `slices`: JSON of a slice's name and its queries.
- `splits`: for each public split JSON of its name, then query, document and grade of each judged
  pair; a pair that was pooled and not judged has no grade and is not in it.
- `scale`: JSON of the grades' values and which of them are relevant, and of the threshold.
- `unit`: what a document is.
- `weights`: query and weight; only there where a query has one.
- `unlisted`: `not-relevant`; only there where documents that no split lists are not relevant.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from benchwright.formats.beir_writing import DocumentLike, MetadataShape, QueryLike, corpus_jsonl
from benchwright.formats.unlisted import NOT_RELEVANT, unlisted_of
from benchwright.releases.source import ReleaseSource

NULL = b": null"


def content_sha256(source: ReleaseSource) -> str:
    """The digest of everything in a release; see the module for what is in it."""
    return digest_of_parts(content_parts(source))


def digest_of_parts(parts: Mapping[str, str | None]) -> str:
    """The content digest of parts that are known already."""
    return hashlib.sha256(_json(dict(sorted(parts.items()))).encode()).hexdigest()


def content_parts(source: ReleaseSource, *, documents: str | None = None) -> dict[str, str | None]:
    """The digest of each part; `documents` is that of the documents, where it is known already."""
    if documents is None and source.documents is not None:
        documents = _digest(document_lines(source.documents(), source.document_shape))
    qids: list[str] = []
    parts: dict[str, str | None] = {
        "documents": documents,
        "queries": _digest(query_lines(_noting(source.queries(), qids), source.query_shape)),
    }
    parts["families"] = _digest(_family_lines(qids, source.families))
    parts["slices"] = _digest(_slice_lines(qids, source.slices))
    parts["splits"] = _digest(_split_lines(source))
    parts["scale"] = _digest(_scale_lines(source))
    parts["unit"] = _digest([f"{source.unit}\n".encode()])
    if unlisted_of(source.manifest) == NOT_RELEVANT:
        parts["unlisted"] = _digest([f"{NOT_RELEVANT}\n".encode()])
    weighted = [qid for qid in qids if qid in source.weights]
    if weighted:
        parts["weights"] = _digest(f"{qid}\t{source.weights[qid]!r}\n".encode() for qid in weighted)
    return parts


def document_lines(documents: Iterable[DocumentLike], shape: MetadataShape) -> Iterator[bytes]:
    """Documents in their canonical form."""
    for line in corpus_jsonl(documents, shape=shape):
        yield without_nulls(line) if NULL in line else line


def without_nulls(line: bytes) -> bytes:
    """A line of `corpus.jsonl` in its canonical form."""
    row = json.loads(line)
    row["metadata"] = {key: value for key, value in row["metadata"].items() if value is not None}
    return f"{_json(row)}\n".encode()


def query_lines(queries: Iterable[QueryLike], shape: MetadataShape) -> Iterator[bytes]:
    """Queries in their canonical form."""
    for query in queries:
        metadata = {
            key: value
            for key, value in shape.applied(query.metadata).items()
            if key != "family" and value not in (None, "", [], {})
        }
        yield f"{_json({'_id': query.qid, 'text': query.text, 'metadata': metadata})}\n".encode()


def family_names(qids: Iterable[str], families: Mapping[str, Any]) -> dict[str, str]:
    """Each query's family by the smallest id in it; one that is in none is a family of its own.

    Parameters
    ----------
    qids
        In the order of their bytes.

    Examples
    --------
    >>> family_names(["a", "b", "c"], {"a": 7, "c": 7})
    {'a': 'a', 'b': 'b', 'c': 'a'}
    """
    first: dict[Any, str] = {}
    return {qid: first.setdefault(families[qid], qid) if qid in families else qid for qid in qids}


def _family_lines(qids: list[str], families: Mapping[str, str]) -> Iterator[bytes]:
    for qid, family in family_names(qids, families).items():
        yield f"{qid}\t{family}\n".encode()


def _slice_lines(qids: list[str], slices: Mapping[str, Iterable[str]]) -> Iterator[bytes]:
    known_qids = set(qids)
    for name in sorted(slices, key=str.encode):
        members = sorted(known_qids.intersection(slices[name]), key=str.encode)
        if members:
            yield f"{_json([name, members])}\n".encode()


def _split_lines(source: ReleaseSource) -> Iterator[bytes]:
    # A digest of hidden grades could be tried against guesses of them.
    for split in sorted(set(source.splits) - set(source.hidden), key=str.encode):
        yield f"{_json(split)}\n".encode()
        for qid, docid, grade in source.qrels(split):
            if grade >= 0:
                yield f"{qid}\t{docid}\t{grade}\n".encode()


def _scale_lines(source: ReleaseSource) -> Iterator[bytes]:
    steps = sorted((grade["value"], bool(grade["is_relevant"])) for grade in source.grades)
    yield f"{_json([steps, source.threshold])}\n".encode()


def _noting(queries: Iterable[QueryLike], qids: list[str]) -> Iterator[QueryLike]:
    for query in queries:
        qids.append(query.qid)
        yield query


def _digest(lines: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return digest.hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
