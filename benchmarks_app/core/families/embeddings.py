"""Embeddings of queries that a user made with a model of their own, and which of them are close."""

import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks_app.core.families_errors import EmbeddingsError

_IDS = ("ids", "qids", "query_ids")
_VECTORS = ("embeddings", "vectors", "arr_0")
_BLOCK = 2_000
_LARGEST_BYTES = 4 << 30
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
    loaded = _loaded(path, name)
    if isinstance(loaded, np.ndarray):
        if ids is None:
            raise EmbeddingsError(file=name, reason=f"an .npy file holds no ids; {_WHAT}.")
        found, vectors = list(ids), loaded
    else:
        found, vectors = _named(loaded, name)
    return _checked(found, vectors, name)


def _loaded(path: Path, name: str) -> Any:
    try:
        with path.open("rb") as stream:
            loaded = np.load(stream, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            return {key: loaded[key] for key in loaded.files if key in (*_IDS, *_VECTORS)}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        reason = f"cannot be read as numbers ({said}); {_WHAT}, without Python objects."
        raise EmbeddingsError(file=name, reason=reason) from error


def _named(loaded: dict[str, Any], name: str) -> tuple[list[str], Any]:
    ids = next((loaded[key] for key in _IDS if key in loaded), None)
    vectors = next((loaded[key] for key in _VECTORS if key in loaded), None)
    if ids is None or vectors is None:
        lacking = "ids" if ids is None else "embeddings"
        raise EmbeddingsError(file=name, reason=f'has no array "{lacking}"; {_WHAT}.')
    return [str(one) for one in np.ravel(ids).tolist()], vectors


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
        twice = next(one for n, one in enumerate(ids) if one in set(ids[:n]))
        return f"query {twice} has two embeddings; expected one each. Drop one of them."
    return ""


def close_pairs(
    vectors: Any, threshold: float, on_progress: Callable[[int, int], None] | None = None
) -> tuple[Any, Any, Any]:
    """Places a < b of unit vectors whose cosine is `threshold` or more, and that cosine."""
    found: list[tuple[Any, Any, Any]] = []
    n = vectors.shape[0]
    for start in range(0, n, _BLOCK):
        for other in range(start, n, _BLOCK):
            cosines = vectors[start : start + _BLOCK] @ vectors[other : other + _BLOCK].T
            a, b = np.nonzero(cosines >= threshold)
            values = np.clip(cosines[a, b], 0.0, 1.0).astype(np.float64)
            a, b = a + start, b + other
            found.append((a[a < b], b[a < b], values[a < b]))
        if on_progress:
            on_progress(min(start + _BLOCK, n), n)
    if not found:
        empty = np.empty(0, dtype=np.int64)
        return empty, empty, np.empty(0)
    a, b, values = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((b, a))
    return a[order], b[order], values[order]
