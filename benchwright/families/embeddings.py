"""Embeddings of queries that a user made with a model of their own, and which of them are close."""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchwright.errors import ArchiveError
from benchwright.families.errors import EmbeddingsError
from benchwright.files.archives import is_zip
from benchwright.files.sources import open_lines
from benchwright.matrices.arrays import Limits, mapped
from benchwright.matrices.errors import MatrixFileError
from benchwright.matrices.npz import Npz, opened_npz
from benchwright.matrices.products import exact_pairs, relative_error, round_rows
from benchwright.matrices.reading import MappedFile, mapped_file
from benchwright.sandbox import reader

_IDS = ("ids", "qids", "query_ids")
_VECTORS = ("embeddings", "vectors", "arr_0")
_BLOCK = 2_000
_LARGEST_BYTES = 4 << 30
# As they are stored: of 64 bits, where they are computed with as 32.
_LIMITS = Limits(bytes=2 * _LARGEST_BYTES)
_WHAT = (
    'expected an .npz with "ids" (texts) and "embeddings" (one row an id), '
    "or an .npy of one row an id beside the list of ids"
)


@dataclass(frozen=True)
class Embeddings:
    """Unit vectors by query id: float32 of shape (ids, dimensions)."""

    ids: tuple[str, ...]
    vectors: Any


def read_embeddings(path: Path, *, ids: Sequence[str] | None = None, file: str = "") -> Embeddings:
    """The embeddings of an .npz file, or of an .npy file with its `ids` given beside it.

    Raises
    ------
    EmbeddingsError
        If the file is neither, holds Python objects, or ids and rows do not fit each other.
    """
    name = file or path.name
    try:
        listed, vectors = _loaded(path, name, ids)
    except (MatrixFileError, ArchiveError, OSError) as error:
        cause = getattr(error, "reason", None) or str(error)
        reason = f"cannot be read as numbers ({cause}); {_WHAT}, without Python objects."
        raise EmbeddingsError(file=name, reason=reason) from error
    return _checked(listed, vectors, name)


@reader
def check_embeddings(path: Path, ids: Path | None, name: str) -> None:
    """Raise as `read_embeddings` does, of files from outside."""
    read_embeddings(path, ids=_listed(ids, name), file=name)


@reader
def sent_embeddings(
    path: Path, ids: Path | None, name: str, target: Path
) -> Generator[str, None, MappedFile]:
    """Yield the ids of embeddings from outside; returns where the vectors are, in `target`."""
    embeddings = read_embeddings(path, ids=_listed(ids, name), file=name)
    yield from embeddings.ids
    return mapped_file(embeddings.vectors, target)


def _listed(path: Path | None, name: str) -> list[str] | None:
    """The ids of a file, one a line."""
    if path is None:
        return None
    try:
        lines = b"".join(open_lines(path, file=name)).decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        reason = "its list of ids is not UTF-8. Save the list as UTF-8."
        raise EmbeddingsError(file=name, reason=reason) from error
    return [line.strip() for line in lines if line.strip()]


def _loaded(path: Path, name: str, ids: Sequence[str] | None) -> tuple[list[str], Any]:
    """The ids and the vectors, which stay in the file where they can be mapped."""
    if not is_zip(path):
        vectors = mapped(path, name=name, limits=_LIMITS)
        if ids is None:
            raise EmbeddingsError(file=name, reason=f"an .npy file holds no ids; {_WHAT}.")
        return list(ids), vectors
    with opened_npz(path, name=name, limits=_LIMITS) as npz:
        listed, matrix = (_named(npz, names) for names in (_IDS, _VECTORS))
        qids = np.ravel(npz.array(listed))
        if qids.dtype.kind == "S":
            qids = np.char.decode(qids, "utf-8", "replace")
        return [str(qid) for qid in qids.tolist()], npz.array(matrix)


def _named(npz: Npz, names: Sequence[str]) -> str:
    array = next((key for key in names if key in npz.headers), None)
    if array is None:
        lacking = "ids" if names is _IDS else "embeddings"
        raise EmbeddingsError(file=npz.name, reason=f'has no array "{lacking}"; {_WHAT}.')
    return array


def _checked(ids: list[str], vectors: Any, name: str) -> Embeddings:
    reason = _what_is_wrong(ids, vectors)
    if reason:
        raise EmbeddingsError(file=name, reason=reason)
    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1)
    wrong = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if wrong.size:
        reason = (
            f"the embedding of query {ids[wrong[0]]} has no direction (all zero, or not a number), "
            f"as have {wrong.size - 1} others. Make them again, or leave these queries out."
        )
        raise EmbeddingsError(file=name, reason=reason)
    return Embeddings(tuple(ids), rows / lengths[:, None])


def _what_is_wrong(ids: list[str], vectors: Any) -> str:
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        return (
            f"the embeddings are of shape {vectors.shape} and type {vectors.dtype}; expected "
            "numbers in two dimensions, one row a query. Save them as float32."
        )
    if len(ids) != vectors.shape[0]:
        return (
            f"{len(ids)} ids and {vectors.shape[0]} rows; expected as many ids as rows. "
            "Write both from one list."
        )
    if vectors.shape[0] * vectors.shape[1] * 4 > _LARGEST_BYTES:
        return "the embeddings take more than 4 GiB. Reduce their dimensions."
    if len(set(ids)) != len(ids):
        twice = next(qid for qid, n in Counter(ids).items() if n > 1)
        return f"query {twice} has two embeddings; expected one each. Drop one of them."
    return ""


def close_pairs(
    vectors: Any, threshold: float, on_progress: Callable[[int, int], None] | None = None
) -> tuple[Any, Any, Any]:
    """Places a < b of unit vectors whose cosine is `threshold` or more, and that cosine."""
    blocks: list[tuple[Any, Any, Any]] = []
    n = vectors.shape[0]
    vectors = vectors.copy()
    round_rows(vectors, np.zeros(n, dtype=np.int32))
    margin = relative_error(vectors.shape[1])
    for start in range(0, n, _BLOCK):
        for other in range(start, n, _BLOCK):
            cosines = vectors[start : start + _BLOCK] @ vectors[other : other + _BLOCK].T
            a, b = np.nonzero(cosines >= threshold - margin)
            a, b = a + start, b + other
            a, b = a[a < b], b[a < b]
            values = exact_pairs(vectors, vectors, a, b)
            is_close = values >= threshold
            blocks.append((a[is_close], b[is_close], np.clip(values[is_close], 0.0, 1.0)))
        if on_progress:
            on_progress(min(start + _BLOCK, n), n)
    if not blocks:
        empty = np.empty(0, dtype=np.int64)
        return empty, empty, np.empty(0)
    a, b, values = (np.concatenate(part) for part in zip(*blocks, strict=True))
    order = np.lexsort((b, a))
    return a[order], b[order], values[order]
