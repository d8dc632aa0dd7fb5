"""How many candidates stand before each row's partner, both ways in one pass over the tiles.

The similarities of a tile of rows of z1 with a tile of rows of z2 are one matrix product. Its rows
tell how the rows of z1 fare as queries, its columns how those of z2 do. What everything is compared
with, the similarity of a row with its own partner, comes from such a product as well: equal
rows have similarities that are equal to the last bit, and ties are real.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from queue import Empty, LifoQueue
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scoring.core.contrastive.pairs import STRIP_BYTES, Pair, Side, Tile
from scoring.core.cores import worked_on_all_cores

Counts: TypeAlias = NDArray[np.int64]
Progress: TypeAlias = Callable[[int, int], None]
"""Told how many of how many tiles are done."""

# Rows whose true cells are added up in single bytes.
ADDED_IN_BYTES = 64


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
        for _ in work(tallies.count_diagonal, starts):
            done += 1
            if progress:
                progress(done, total)
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


class _Tallies:
    """A tally for each thread that counts; together they hold every tile once."""

    def __init__(self, pair: Pair, length: int) -> None:
        self.pair, self.height = pair, pair.tile_height
        self.partner = np.zeros(length, dtype=np.float32)
        self.made: list[_Tally] = []
        self.free: LifoQueue[_Tally] = LifoQueue()

    @contextmanager
    def one(self) -> Iterator["_Tally"]:
        """A tally that no other thread counts in meanwhile."""
        try:
            tally = self.free.get_nowait()
        except Empty:
            tally = _Tally(self.pair.n, self.height, self.partner)
            self.made.append(tally)
        try:
            yield tally
        finally:
            self.free.put(tally)

    def count_diagonal(self, at: int) -> None:
        """Count the tile that holds the partners of rows from `at`, and keep how similar these are.

        Counted here and not again: where one product were a bit off from another of the same rows,
        a partner would stand beside itself.
        """
        left, right = (side.tile(at, self.height) for side in (self.pair.first, self.pair.second))
        with self.one() as tally:
            np.matmul(left, right.T, out=tally.similarities)
            self.partner[at : at + self.height] = tally.similarities.diagonal()
            tally.count(at, at)

    def count_strip(self, strip: Tile, tops: range, at: int) -> int:
        """Count the tiles of a strip with rows from `at` of z2, but not the diagonal one.

        Returns how many.
        """
        right = self.pair.second.tile(at, self.height)
        others = [top for top in tops if top != at]
        with self.one() as tally:
            for top in others:
                left = strip[top - tops[0] : top - tops[0] + self.height]
                np.matmul(left, right.T, out=tally.similarities)
                tally.count(top, at)
        return len(others)

    def places(self) -> BothWays:
        above, at_least = (
            np.sum([np.asarray(getattr(tally, name)) for tally in self.made], axis=0)[
                :, : self.pair.n
            ]
            for name in ("above", "at_least")
        )
        # A partner is as similar as itself.
        tied = at_least - above - 1
        return BothWays(Places(above[0], tied[0]), Places(above[1], tied[1]))


class _Tally:
    """What one thread has counted; arrays are as long as whole tiles, cut to n at last."""

    def __init__(self, n: int, height: int, partner: NDArray[np.float32]) -> None:
        self.n, self.height, self.partner = n, height, partner
        self.above = np.zeros((2, len(partner)), dtype=np.int64)
        self.at_least = np.zeros((2, len(partner)), dtype=np.int64)
        self.similarities = np.empty((height, height), dtype=np.float32)
        self.is_before = np.empty((height, height), dtype=np.bool_)

    def count(self, top: int, at: int) -> None:
        """Count the similarities of rows from `top` of z1 with rows from `at` of z2."""
        self._forget_beyond(top, at)
        rows, columns = slice(top, top + self.height), slice(at, at + self.height)
        compared = (np.greater, self.above), (np.greater_equal, self.at_least)
        for compare, counts in compared:
            compare(self.similarities, self.partner[rows, np.newaxis], out=self.is_before)
            counts[0, rows] += _across(self.is_before)
            compare(self.similarities, self.partner[columns], out=self.is_before)
            counts[1, columns] += _down(self.is_before)

    def _forget_beyond(self, top: int, at: int) -> None:
        """Rows beyond the last one are zeros, and as candidates less similar than any."""
        self.similarities[max(0, self.n - top) :] = -np.inf
        self.similarities[:, max(0, self.n - at) :] = -np.inf


def _across(cells: NDArray[np.bool_]) -> Counts:
    """True cells of each row, eight bytes at a time: no byte passes 255 in tiles this narrow."""
    words = np.add.reduce(cells.view(np.uint64), axis=1)
    found: Counts = words.view(np.uint8).reshape(len(cells), 8).sum(axis=1, dtype=np.int64)
    return found


def _down(cells: NDArray[np.bool_]) -> Counts:
    """True cells of each column."""
    groups = cells.view(np.uint8).reshape(-1, ADDED_IN_BYTES, cells.shape[1])
    found: Counts = np.add.reduce(groups, axis=1, dtype=np.uint8).sum(axis=0, dtype=np.int64)
    return found
