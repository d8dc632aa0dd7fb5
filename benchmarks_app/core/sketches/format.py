"""A sketch as a file: a line that says so, a line of JSON, then rows of hashes of fixed length.

Rows are sorted and each is there once, so that neither the order nor the repetitions of the list
are told.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks_app.core.sketches.hashing import (
    BANDS,
    KEY_BYTES,
    ROW_BYTES,
    ROWS,
    SHINGLE,
    HashedQueries,
)
from benchmarks_app.core.sketches_errors import SketchFormatError

MAGIC = b"benchwright-sketch"
VERSION = 1
LONGEST_HEADER = 4096
ROWS_AT_ONCE = 50_000


@dataclass(frozen=True)
class SketchHeader:
    """What a sketch says of itself. `salt` is there only where its owner put it into the file."""

    n_queries: int
    n_documents: int
    salt_check: str
    salt: str | None = None
    language: str = "en"
    bands: int = BANDS
    rows: int = ROWS
    shingle: int = SHINGLE

    def as_bytes(self) -> bytes:
        first = MAGIC + b" %d\n" % VERSION
        return first + json.dumps(asdict(self), sort_keys=True).encode() + b"\n"


def is_sketch(beginning: bytes) -> bool:
    """Whether a file that begins so is a sketch, of whatever version."""
    return beginning.startswith(MAGIC)


def read_header(path: Path, *, file: str | None = None) -> SketchHeader:
    """What a sketch says of itself, checked against its length.

    Raises
    ------
    SketchFormatError
        If it is no sketch, one of another version, or cut short.
    """
    return _header(path, file or path.name)[0]


def _header(path: Path, file: str) -> tuple[SketchHeader, int]:
    with path.open("rb") as stream:
        first = stream.readline(LONGEST_HEADER)
        second = stream.readline(LONGEST_HEADER)
        begin = stream.tell()
    magic, _, version = first.strip().partition(b" ")
    if magic != MAGIC:
        raise SketchFormatError(file=file, reason="is not a sketch")
    if version != b"%d" % VERSION:
        reason = f"is a sketch of version {version.decode(errors='replace')[:20]}, expected 1"
        raise SketchFormatError(file=file, reason=reason)
    header = _parsed(second, file)
    expected = begin + header.n_queries * ROW_BYTES + header.n_documents * KEY_BYTES
    size = path.stat().st_size
    if size != expected:
        reason = f"has {size:,} bytes and should have {expected:,}; it was cut short or changed"
        raise SketchFormatError(file=file, reason=reason)
    return header, begin


def _parsed(line: bytes, file: str) -> SketchHeader:
    try:
        header = SketchHeader(**json.loads(line))
        is_good = min(int(header.n_queries), int(header.n_documents)) >= 0
    except (TypeError, ValueError) as error:
        raise SketchFormatError(file=file, reason="has a second line that is no header") from error
    if not is_good or (header.bands, header.rows, header.shingle) != (BANDS, ROWS, SHINGLE):
        reason = f"has other bands than this version's {BANDS} of {ROWS}"
        raise SketchFormatError(file=file, reason=reason)
    return header


def read_sketch(path: Path, *, file: str | None = None) -> Iterator[HashedQueries]:
    """The hashes of a sketch, in blocks; raises as `read_header` does."""
    header, begin = _header(path, file or path.name)
    with path.open("rb") as stream:
        stream.seek(begin)
        left = header.n_queries
        while left:
            n = min(left, ROWS_AT_ONCE)
            yield _hashes(stream.read(n * ROW_BYTES))
            left -= n


def read_documents(path: Path) -> Any:
    """The hashes of the documents that are relevant to any query of a sketch."""
    header, begin = _header(path, path.name)
    with path.open("rb") as stream:
        stream.seek(begin + header.n_queries * ROW_BYTES)
        return np.frombuffer(stream.read(), "<u8")


def _hashes(block: bytes) -> HashedQueries:
    kind = np.dtype([("exact", "<u8"), ("bag", "<u8"), ("bands", "<u4", (BANDS,))])
    rows = np.frombuffer(block, kind)
    return HashedQueries(rows["exact"], rows["bag"], rows["bands"])
