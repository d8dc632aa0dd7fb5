"""Documents as tiles of 32-bit numbers, and how far a product of those can be from the truth."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import frexp, ldexp, sqrt
from typing import Any

import numpy as np

from benchwright.matrices.products import Singles, relative_error
from benchwright.retrieval.dense.embeddings import (
    LARGEST,
    Doubles,
    Embeddings,
    let_go,
    refuse_bad_rows,
)

# Squared lengths in this range say enough in 32 bits; others are taken again in 64.
LEAST_SQUARE, LARGEST_SQUARE = 1e-24, 1e24
# Vectors whose squares vanish in 64 bits count as zero; no product of theirs is larger than this.
NOTHING = 1e-140


@dataclass(frozen=True, slots=True)
class Tile:
    """Some documents: product with a query of length 1, times `scale`, is nearly the score.

    It differs from it by at most `margin`, which is in units of the score.
    """

    first: int
    vectors: Singles
    scale: float
    margin: float


def tiles_of(documents: Embeddings, *, n_rows: int, is_cosine: bool) -> Iterator[Tile]:
    """The documents in their order, `n_rows` at a time.

    Raises
    ------
    EmbeddingValueError
        When a row is reached that holds NaN, infinity or a number beyond 32 bits.
    """
    vectors = documents.vectors
    bound = relative_error(vectors.shape[1])
    for first in range(0, len(vectors), n_rows):
        block = vectors[first : first + n_rows]
        yield (
            _unit_tile(documents, block, first, bound)
            if is_cosine
            else _tile(documents, block, first, bound)
        )
        let_go(vectors)


def _tile(documents: Embeddings, block: Any, first: int, bound: float) -> Tile:
    """Divided by a power of two where its numbers would leave the range of 32 bits."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        singles = np.ascontiguousarray(block, dtype=np.float32)
        squares = np.einsum("ij,ij->i", singles, singles)
    square = float(squares.max(initial=0.0))
    if LEAST_SQUARE < square < LARGEST_SQUARE:
        # The square itself is rounded as any product is.
        return Tile(first, singles, 1.0, bound * sqrt(square) * (1 + bound) + NOTHING)
    largest = float(_lengths(documents, block).max(initial=0.0))
    _, exponent = frexp(largest)
    scaled = np.ldexp(block.astype(np.float64), -exponent).astype(np.float32)
    return Tile(first, scaled, ldexp(1.0, exponent), bound * largest * 1.01 + NOTHING)


def _unit_tile(documents: Embeddings, block: Any, first: int, bound: float) -> Tile:
    """Each row divided by its length; a row of zeros stays one."""
    lengths = _lengths(documents, block)
    whole = np.where(lengths > 0, lengths, 1.0)
    units = (block / whole[:, np.newaxis]).astype(np.float32)
    return Tile(first, units, 1.0, bound + NOTHING)


def _lengths(documents: Embeddings, block: Any) -> Doubles:
    """Euclidean lengths; raises where they show that a row is bad."""
    lengths = row_lengths(block)
    # A length of 64 bits is finite where all numbers are, and at least as large as each of them.
    if not float(lengths.max(initial=0.0)) <= LARGEST:
        refuse_bad_rows(documents)
    return lengths


def row_lengths(rows: Any) -> Doubles:
    """Euclidean lengths, in 64 bits, whatever stands beside a row."""
    wide = np.ascontiguousarray(rows, dtype=np.float64)
    lengths: Doubles = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return lengths
