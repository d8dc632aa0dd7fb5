"""Vectors with their ids: what they must be before anything is computed of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from benchwright.retrieval.errors import (
    EmbeddingDimensionsError,
    EmbeddingIdsError,
    EmbeddingShapeError,
    EmbeddingValueError,
    UnknownSimilarityError,
)

Doubles = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Vectors = npt.NDArray[Any]
"""Rows of float16, float32 or float64 numbers, in memory or mapped from a file."""

SIMILARITIES = ("dot", "cosine")
DTYPES = ("float16", "float32", "float64")
# Numbers looked at together, so that a file larger than memory can be checked.
BLOCK_NUMBERS = 1 << 20
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """A matrix with one id a row; `name` is what messages call it.

    Made by `embeddings`, which checks shape and ids; `refuse_bad_rows` looks at the numbers.
    """

    ids: Sequence[str]
    vectors: Vectors
    name: str = "the embeddings"
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_dimensions(self) -> int:
        return int(self.vectors.shape[1])


def embeddings(
    ids: Sequence[str],
    vectors: Any,
    *,
    name: str = "the embeddings",
    notes: Sequence[str] = (),
) -> Embeddings:
    """The vectors with their ids, as soon as both fit.

    `vectors` is anything that is an array of two axes: row i is of `ids[i]`. Nothing is copied, so
    a matrix that is mapped from a file stays there.

    Raises
    ------
    EmbeddingShapeError
        If it has not two axes, no dimension, or other numbers than floating-point ones.
    EmbeddingIdsError
        If there are more or fewer ids than rows, or an id is empty or comes twice.
    """
    matrix = np.asanyarray(vectors)
    _refuse_shape(matrix, name)
    _refuse_ids(ids, len(matrix), name)
    return Embeddings(ids, matrix, name, tuple(notes))


def _refuse_shape(matrix: Vectors, name: str) -> None:
    if matrix.ndim != 2:
        shape = " x ".join(map(str, matrix.shape)) or "a single number"
        reason = f"the shape is {shape}; expected rows x dimensions. Save one matrix of all rows."
        raise EmbeddingShapeError(name=name, reason=reason)
    if matrix.dtype.name not in DTYPES:
        reason = (
            f"the numbers are {matrix.dtype}; expected one of {', '.join(DTYPES)}. "
            "Save them as float32."
        )
        raise EmbeddingShapeError(name=name, reason=reason)
    if len(matrix) and not matrix.shape[1]:
        reason = "the rows have no dimension; expected at least one. Check what was saved."
        raise EmbeddingShapeError(name=name, reason=reason)


def _refuse_ids(ids: Sequence[str], n_rows: int, name: str) -> None:
    if len(ids) != n_rows:
        reason = (
            f"{len(ids):,} ids for {n_rows:,} rows; expected one id a row, in the same order. "
            "Save both from one list."
        )
        raise EmbeddingIdsError(name=name, reason=reason)
    if "" in (distinct := set(ids)):
        reason = f"the id of row {list(ids).index('')} (from 0) is empty; expected one a row."
        raise EmbeddingIdsError(name=name, reason=reason)
    if len(distinct) < n_rows:
        again, count = Counter(ids).most_common(1)[0]
        first, second = _first_two(ids, again)
        reason = (
            f"{again!r} is the id of {count} rows, first of {first} and {second} (from 0); "
            "expected every id once. Leave the others out."
        )
        raise EmbeddingIdsError(name=name, reason=reason)


def _first_two(ids: Sequence[str], repeated: str) -> tuple[int, int]:
    rows = (row for row, row_id in enumerate(ids) if row_id == repeated)
    return next(rows), next(rows)


def refuse_misfit(queries: Embeddings, documents: Embeddings) -> None:
    """Raise `EmbeddingDimensionsError` where no query can be multiplied with a document."""
    if not len(queries) or not len(documents):
        return
    if queries.n_dimensions != documents.n_dimensions:
        raise EmbeddingDimensionsError(
            queries=queries.name,
            n_query=queries.n_dimensions,
            documents=documents.name,
            n_document=documents.n_dimensions,
        )


def refuse_unknown(similarity: str) -> None:
    """Raise `UnknownSimilarityError` where it is none of `SIMILARITIES`."""
    if similarity not in SIMILARITIES:
        raise UnknownSimilarityError(similarity=similarity, known=", ".join(SIMILARITIES))


# --- numbers -------------------------------------------------------------------------------


def refuse_bad_rows(embeddings: Embeddings) -> None:
    """Look at every number once, block by block.

    Raises
    ------
    EmbeddingValueError
        With the first row that holds NaN, infinity or a number beyond 32 bits, and how many do.
    """
    first, n_bad = -1, 0
    for start, block in blocks_of(embeddings.vectors):
        rows = np.flatnonzero(~_fit(block))
        if len(rows) and first < 0:
            first = start + int(rows[0])
        n_bad += len(rows)
    if n_bad:
        raise bad_row(embeddings, first, n_bad)


def bad_row(embeddings: Embeddings, row: int, n_bad: int = 1) -> EmbeddingValueError:
    """The error of a row that was found bad, the first of so many."""
    values = np.asarray(embeddings.vectors[row], dtype=np.float64)
    value = values[~(np.abs(values) <= LARGEST)][0]
    more = f", and {n_bad - 1:,} more rows are like it" if n_bad > 1 else ""
    facts = {"name": embeddings.name, "row": row, "id": embeddings.ids[row], "more": more}
    return EmbeddingValueError(**facts, value=f"{value:g}")


def _fit(block: Vectors) -> npt.NDArray[np.bool_]:
    """Which rows hold nothing but numbers that are finite as 32-bit floats."""
    fit = np.isfinite(block)
    if block.dtype.itemsize > 4:
        fit &= np.abs(block) <= LARGEST
    return np.asarray(fit.all(axis=1))


def blocks_of(vectors: Vectors, *, numbers: int = BLOCK_NUMBERS) -> Iterator[tuple[int, Vectors]]:
    """The rows a block at a time, each with the number of its first row."""
    step = max(1, numbers // max(1, vectors.shape[1]))
    for start in range(0, len(vectors), step):
        yield start, vectors[start : start + step]
        let_go(vectors)


def let_go(vectors: Vectors) -> None:
    """Tell the system that a mapped file's pages need not stay in memory; they can come again."""
    import mmap

    mapped = getattr(vectors, "_mmap", None)
    # Not of a copy on write: what was written to it is nowhere else.
    is_of_file = getattr(vectors, "mode", "c") != "c"
    if is_of_file and isinstance(mapped, mmap.mmap) and hasattr(mapped, "madvise"):
        mapped.madvise(mmap.MADV_DONTNEED)
