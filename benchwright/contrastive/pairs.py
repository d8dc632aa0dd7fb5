"""Two matrices whose rows belong together, prepared a tile at a time.

Nothing of the size of a matrix is copied: files that are mapped into memory stay on the disk.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchwright.contrastive.errors import EmbeddingScaleError, EpsilonError, NotFiniteError
from benchwright.matrices.products import exact_products, exponents_of, lengths_of, round_rows

# --- Two matrices whose rows belong together, prepared a tile at a time.

Matrix: TypeAlias = NDArray[Any]
Tile: TypeAlias = NDArray[np.float32]

# Rows of a tile, at most and at least: a tile of similarities fits into a core's own cache.
TALLEST, SHORTEST = 512, 64
# What the rows of one tile take at most as 64-bit numbers, and those of a strip as 32-bit ones.
TILE_BYTES, STRIP_BYTES = 2**23, 2**23
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Side:
    """One matrix, what each of its rows is divided by (None: nothing), and its length then."""

    matrix: Matrix
    divisors: NDArray[np.float64] | None
    lengths: NDArray[np.float64]

    def tile(self, start: int, height: int) -> Tile:
        """Rows from `start`, as `round_rows` leaves them; zeros beyond the last row."""
        tile = np.zeros((height, self.matrix.shape[1]), dtype=np.float32)
        stop = min(start + height, len(self.matrix))
        self._write(tile[: stop - start], slice(start, stop))
        return tile

    def picked(self, rows: NDArray[np.intp]) -> Tile:
        """Some rows, as they stand in tiles."""
        tile = np.empty((len(rows), self.matrix.shape[1]), dtype=np.float32)
        self._write(tile, rows)
        return tile

    def _write(self, tile: Tile, rows: slice | NDArray[np.intp]) -> None:
        if self.divisors is None:
            tile[...] = self.matrix[rows]
        else:
            divisors = self.divisors[rows][:, np.newaxis]
            np.divide(self.matrix[rows], divisors, out=tile, casting="same_kind", dtype=np.float64)
        round_rows(tile, exponents_of(self.lengths[rows]))


@dataclass(frozen=True)
class Pair:
    """Row i of `first` belongs to row i of `second`."""

    first: Side
    second: Side

    @property
    def n(self) -> int:
        return len(self.first.matrix)

    @property
    def n_features(self) -> int:
        return int(self.first.matrix.shape[1])

    @property
    def tile_height(self) -> int:
        return _height(self.n, self.n_features)


def checked_pair(first: Matrix, second: Matrix, *, normalize: bool, eps: float) -> Pair:
    """Two matrices of one shape, ready to be compared.

    Raises
    ------
    EpsilonError
        If `eps` is negative, infinite or no number.
    NotFiniteError
        Naming the first row with NaN or infinity, those of z1 before those of z2.
    EmbeddingScaleError
        If dot products cannot be told in 32 bits.
    """
    if not 0 <= eps < inf:
        raise EpsilonError(eps=eps)
    lengths = [_lengths(first, "z1"), _lengths(second, "z2")]
    if normalize:
        by = [_divisors(each, eps) for each in lengths]
        return Pair(Side(first, by[0], lengths[0] / by[0]), Side(second, by[1], lengths[1] / by[1]))
    _refuse_too_long(*lengths)
    return Pair(Side(first, None, lengths[0]), Side(second, None, lengths[1]))


def _height(n: int, n_features: int) -> int:
    """Rows of a tile: all tiles have as many, so that every product is computed in the same way."""
    fitting = TILE_BYTES // (8 * max(1, n_features)) // SHORTEST * SHORTEST
    needed = -(-n // SHORTEST) * SHORTEST
    return min(max(SHORTEST, min(TALLEST, fitting)), needed)


def _lengths(matrix: Matrix, name: str) -> NDArray[np.float64]:
    """The length of each row; raises for the first that has none."""
    lengths = np.empty(len(matrix))
    height = _height(len(matrix), matrix.shape[1])
    for start in range(0, len(matrix), height):
        block = matrix[start : start + height].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            of_block = lengths_of(block)
        wrong = np.flatnonzero(~np.isfinite(of_block))
        if len(wrong):
            _refuse_row(name, start + int(wrong[0]), block[wrong[0]], float(of_block[wrong[0]]))
        lengths[start : start + height] = of_block
    return lengths


def _refuse_row(name: str, row: int, values: NDArray[np.float64], length: float) -> None:
    wrong = np.flatnonzero(~np.isfinite(values))
    if not len(wrong):
        raise EmbeddingScaleError(name=name, row=row, length=length)
    column = int(wrong[0])
    raise NotFiniteError(name=name, row=row, column=column, value=float(values[column]))


def _divisors(lengths: NDArray[np.float64], eps: float) -> NDArray[np.float64]:
    divisors = lengths + eps
    # A row of zeros stays one, also where eps is 0.
    divisors[divisors == 0] = 1
    return divisors


def _refuse_too_long(first: NDArray[np.float64], second: NDArray[np.float64]) -> None:
    """No product of two rows, nor any part of it, is larger than that of their lengths."""
    longest = [float(each.max()) for each in (first, second)]
    # Products of small lengths cannot overflow; a single number must fit as well.
    if max(longest[0] * longest[1], *longest) < LARGEST:
        return
    name, lengths = ("z1", first) if longest[0] >= longest[1] else ("z2", second)
    row = int(lengths.argmax())
    raise EmbeddingScaleError(name=name, row=row, length=float(lengths[row]))


# --- The most similar row that is not the partner.

Rows = NDArray[np.intp]


def nearest_others(pair: Pair, rows: Rows) -> tuple[Rows, Rows]:
    """The most similar candidate of some rows, each way; of equal ones the first.

    The partner itself counts only where there is no other row.
    """
    forward = _nearest(pair.first, pair.second, rows, pair.tile_height)
    return forward, _nearest(pair.second, pair.first, rows, pair.tile_height)


def _nearest(queries: Side, candidates: Side, rows: Rows, height: int) -> Rows:
    best = np.full(len(rows), -np.inf)
    nearest = rows.copy()
    chosen = queries.picked(rows)
    for start in range(0, len(candidates.matrix) if len(rows) else 0, height):
        similarities = exact_products(chosen, candidates.tile(start, height))
        similarities[:, len(candidates.matrix) - start :] = -np.inf
        _forget_partners(similarities, rows - start)
        first = similarities.argmax(axis=1)
        similarity = similarities[np.arange(len(rows)), first]
        is_better = similarity > best
        best[is_better] = similarity[is_better]
        nearest[is_better] = first[is_better] + start
    return nearest


def _forget_partners(similarities: NDArray[np.float64], columns: Rows) -> None:
    inside = np.flatnonzero((columns >= 0) & (columns < similarities.shape[1]))
    similarities[inside, columns[inside]] = -np.inf
