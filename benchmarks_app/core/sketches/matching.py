"""Which of our queries a sketch holds, or nearly."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks_app.core.sketches.hashing import BANDS, ROWS, HashedQueries, Hasher

# Of 32 bands of 4 values, (1 - J)-unlike queries share about 32 J^4: see docs/contamination.md for
# how these two levels compare with a similarity of .80 and .60 on real queries.
NEAR_BANDS = 8
POSSIBLE_BANDS = 4


@dataclass(frozen=True)
class SketchMatch:
    """What a sketch says of one query: the same text, the same words, or so many bands alike."""

    is_exact: bool
    has_same_words: bool
    n_bands: int

    @property
    def similarity(self) -> float:
        """The estimated share of shingles that it has in common with the nearest query (Jaccard).

        >>> SketchMatch(False, False, 2).similarity
        0.5
        """
        if self.is_exact or self.has_same_words:
            return 1.0
        return float((self.n_bands / BANDS) ** (1 / ROWS))


class SketchMatcher:
    """Holds our queries' hashes, and takes in a sketch block by block."""

    def __init__(self, texts: Sequence[str], hasher: Hasher) -> None:
        ours = hasher.queries(texts)
        self.ours = ours
        self.is_exact = np.zeros(len(texts), bool)
        self.has_same_words = np.zeros(len(texts), bool)
        self.n_bands = np.zeros(len(texts), np.int64)
        self._order = np.argsort(ours.bands, axis=0, kind="stable")
        self._sorted = np.take_along_axis(ours.bands, self._order, axis=0)

    def take(self, block: HashedQueries) -> None:
        """Look for our queries in a block of a sketch."""
        self.is_exact |= np.isin(self.ours.exact, block.exact)
        self.has_same_words |= np.isin(self.ours.bag, block.bag)
        pairs = np.concatenate([self._equal(block, band) for band in range(BANDS)])
        if not pairs.size:
            return
        found, times = np.unique(pairs, return_counts=True)
        np.maximum.at(self.n_bands, found & 0xFFFFFFFF, times)

    def _equal(self, block: HashedQueries, band: int) -> Any:
        """Pairs of equal hashes in one band: the sketch's row shifted by 32, and ours."""
        values, order = self._sorted[:, band], self._order[:, band]
        theirs = block.bands[:, band]
        first = np.searchsorted(values, theirs, "left")
        n = np.searchsorted(values, theirs, "right") - first
        rows = np.flatnonzero(n)
        times = n[rows]
        within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        ours = order[np.repeat(first[rows], times) + within]
        return (np.repeat(rows, times).astype(np.int64) << 32) | ours.astype(np.int64)

    def matches(self) -> list[SketchMatch]:
        """What was found, for each of our queries."""
        return [
            SketchMatch(bool(exact), bool(words), int(n))
            for exact, words, n in zip(
                self.is_exact, self.has_same_words, self.n_bands, strict=True
            )
        ]
