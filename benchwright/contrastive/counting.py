"""How many candidates stand before each row's partner, both ways in one pass over the tiles.

The similarities of a tile of rows of z1 with a tile of rows of z2 are one matrix product. Its rows
tell how the rows of z1 fare as queries, its columns how those of z2 do. It is of 32 bits, and says
what is surely more and what surely less similar than the partner; exact products decide the rest.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from queue import Empty, LifoQueue
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchwright.contrastive.pairs import LARGEST, STRIP_BYTES, Pair, Side, Tile
from benchwright.matrices.cores import worked_on_all_cores
from benchwright.matrices.products import (
    Doubles,
    exact_dots,
    exact_pairs,
    exact_products,
    relative_error,
)

Counts: TypeAlias = NDArray[np.int64]
Progress: TypeAlias = Callable[[int, int], None]
"""Told how many of how many tiles are done."""

# Rows whose true cells are added up in single bytes.
ADDED_IN_BYTES = 64
# The share of a tile's cells from which all products cost less than those of single cells.
MANY = 1 / 16
# Products of two numbers below this are not told in 32 bits, or only nearly.
NOTHING = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True)
class Places:
    """Where the true partner of each query stands.

    `above` counts the candidates that are more similar to the query than its partner, `tied` the
    others that are exactly as similar.
    """

    above: Counts
    tied: Counts

    def of(self, rows: Any) -> "Places":
        """Those of some queries."""
        return Places(self.above[rows], self.tied[rows])


@dataclass(frozen=True)
class BothWays:
    """Rows of z1 as queries over z2 (`forward`), and rows of z2 over z1 (`backward`)."""

    forward: Places
    backward: Places

    def of(self, rows: Any) -> "BothWays":
        return BothWays(self.forward.of(rows), self.backward.of(rows))


def places_of_partners(pair: Pair, progress: Progress | None = None) -> BothWays:
    """Where each row's partner stands, both ways, among all rows of the other matrix."""
    height = pair.tile_height
    starts = range(0, pair.n, height)
    tallies = _Tallies(pair, len(starts) * height)
    done, total = 0, len(starts) ** 2
    with worked_on_all_cores() as work:
        for _ in work(tallies.keep_partners, starts):
            pass
        for tops, strip in _strips(pair.first, starts):
            for n in work(partial(tallies.count_strip, strip, tops), starts):
                done += n
                if progress:
                    progress(done, total)
    return tallies.places()


def _strips(side: Side, starts: range) -> Iterator[tuple[range, Tile]]:
    """The rows of one matrix, some tiles at a time, with where these begin."""
    height, width = starts.step, side.matrix.shape[1]
    n_tall = max(1, STRIP_BYTES // (4 * max(1, width) * height))
    for first in range(0, len(starts), n_tall):
        tops = starts[first : first + n_tall]
        yield tops, np.vstack([side.tile(top, height) for top in tops])


@dataclass(frozen=True)
class _Bounds:
    """The exact similarity of each query with its partner, and what 32 bits can say about it.

    What is above `high` is more similar than the partner, what is below `low` less.
    """

    exact: Doubles
    low: NDArray[np.float32]
    high: NDArray[np.float32]

    @classmethod
    def empty(cls, length: int) -> "_Bounds":
        # Nothing is open for the rows beyond the last one.
        ends = np.full((2, length), np.inf, dtype=np.float32)
        return cls(np.zeros(length), *ends)

    def keep(self, rows: slice, exact: Doubles, margins: Doubles) -> None:
        self.exact[rows] = exact
        # Of 32 bits as well: their rounding is part of the margin.
        self.low[rows] = np.maximum(exact - margins, -LARGEST)
        self.high[rows] = np.minimum(exact + margins, LARGEST)


class _Tallies:
    """A tally for each thread that counts; together they hold every tile once."""

    def __init__(self, pair: Pair, length: int) -> None:
        self.pair, self.height = pair, pair.tile_height
        self.bounds = _Bounds.empty(length), _Bounds.empty(length)
        self.longest = [float(side.lengths.max()) for side in (pair.second, pair.first)]
        self.tallies: list[_Tally] = []
        self.free: LifoQueue[_Tally] = LifoQueue()

    @contextmanager
    def one(self) -> Iterator["_Tally"]:
        """A tally that no other thread counts in meanwhile."""
        try:
            tally = self.free.get_nowait()
        except Empty:
            tally = _Tally(self.pair.n, self.height, self.bounds)
            self.tallies.append(tally)
        try:
            yield tally
        finally:
            self.free.put(tally)

    def keep_partners(self, at: int) -> None:
        """Keep how similar the partners of rows from `at` are."""
        sides = self.pair.first, self.pair.second
        rows = slice(at, min(at + self.height, self.pair.n))
        exact = exact_dots(*(side.tile(at, rows.stop - at) for side in sides))
        bound = relative_error(self.pair.n_features)
        for side, bounds, longest in zip(sides, self.bounds, self.longest, strict=True):
            margins = bound * side.lengths[rows] * longest + self.pair.n_features * NOTHING
            bounds.keep(rows, exact, margins)

    def count_strip(self, strip: Tile, tops: range, at: int) -> int:
        """Count the tiles of a strip with rows from `at` of z2; returns how many."""
        right = self.pair.second.tile(at, self.height)
        with self.one() as tally:
            for top in tops:
                left = strip[top - tops[0] : top - tops[0] + self.height]
                tally.count(left, right, top, at)
        return len(tops)

    def places(self) -> BothWays:
        above, at_least = (
            np.sum([np.asarray(getattr(tally, name)) for tally in self.tallies], axis=0)[
                :, : self.pair.n
            ]
            for name in ("above", "at_least")
        )
        tied = at_least - above
        return BothWays(Places(above[0], tied[0]), Places(above[1], tied[1]))


class _Tally:
    """What one thread has counted; arrays are as long as whole tiles, cut to n at last."""

    def __init__(self, n: int, height: int, bounds: tuple[_Bounds, _Bounds]) -> None:
        self.n, self.height, self.bounds = n, height, bounds
        self.above = np.zeros((2, len(bounds[0].exact)), dtype=np.int64)
        self.at_least = np.zeros((2, len(bounds[0].exact)), dtype=np.int64)
        self.similarities = np.empty((height, height), dtype=np.float32)
        self.is_before = np.empty((height, height), dtype=np.bool_)

    def count(self, left: Tile, right: Tile, top: int, at: int) -> None:
        """Count the similarities of rows from `top` of z1 with rows from `at` of z2."""
        np.matmul(left, right.T, out=self.similarities)
        self._forget_beyond(top, at)
        if top == at:
            np.fill_diagonal(self.similarities, -np.inf)  # partners are not held against themselves
        rows, columns = slice(top, top + self.height), slice(at, at + self.height)
        forward, backward = self.bounds
        above = _across(self._compared(np.greater, forward.high[rows, np.newaxis]))
        at_least = _across(self._compared(np.greater_equal, forward.low[rows, np.newaxis]))
        self._settle(left, right, self.similarities, (0, top, at), above, at_least)
        above = _down(self._compared(np.greater, backward.high[columns]))
        at_least = _down(self._compared(np.greater_equal, backward.low[columns]))
        self._settle(right, left, self.similarities.T, (1, at, top), above, at_least)

    def _compared(self, compare: Callable[..., Any], bound: NDArray[Any]) -> NDArray[np.bool_]:
        compare(self.similarities, bound, out=self.is_before)
        return self.is_before

    def _settle(
        self,
        queries: Tile,
        candidates: Tile,
        similarities: NDArray[np.float32],
        place: tuple[int, int, int],
        above: Counts,
        at_least: Counts,
    ) -> None:
        """Add the counts of a tile after exact products have decided what its bounds leave open."""
        way, first, other = place
        bounds, rows = self.bounds[way], slice(first, first + self.height)
        n_open = at_least - above
        unsettled = np.flatnonzero(n_open)
        exact = bounds.exact[rows][unsettled]
        if n_open.sum() > MANY * len(unsettled) * self.height:
            products = exact_products(queries[unsettled], candidates[: self.n - other])
            if first == other:
                products[np.arange(len(unsettled)), unsettled] = -np.inf
            above[unsettled] = np.count_nonzero(products > exact[:, np.newaxis], axis=1)
            at_least[unsettled] = np.count_nonzero(products >= exact[:, np.newaxis], axis=1)
        elif len(unsettled):
            near = similarities[unsettled]
            low, high = (each[rows][unsettled, np.newaxis] for each in (bounds.low, bounds.high))
            of, which = np.nonzero((near >= low) & (near <= high))
            differences = exact_pairs(queries, candidates, unsettled[of], which) - exact[of]
            above[unsettled] += np.bincount(of[differences > 0], minlength=len(unsettled))
            at_least[unsettled] = above[unsettled] + np.bincount(
                of[differences == 0], minlength=len(unsettled)
            )
        self.above[way, rows] += above
        self.at_least[way, rows] += at_least

    def _forget_beyond(self, top: int, at: int) -> None:
        """Rows beyond the last one are zeros, and as candidates less similar than any."""
        self.similarities[max(0, self.n - top) :] = -np.inf
        self.similarities[:, max(0, self.n - at) :] = -np.inf


def _across(cells: NDArray[np.bool_]) -> Counts:
    """True cells of each row, eight bytes at a time: no byte passes 255 in tiles this narrow."""
    words = np.add.reduce(cells.view(np.uint64), axis=1)
    counts: Counts = words.view(np.uint8).reshape(len(cells), 8).sum(axis=1, dtype=np.int64)
    return counts


def _down(cells: NDArray[np.bool_]) -> Counts:
    """True cells of each column."""
    groups = cells.view(np.uint8).reshape(-1, ADDED_IN_BYTES, cells.shape[1])
    counts: Counts = np.add.reduce(groups, axis=1, dtype=np.uint8).sum(axis=0, dtype=np.int64)
    return counts
