"""A part of a block of queries: what it keeps while the tiles pass, apart from the other parts."""

import numpy as np

from benchwright.retrieval.dense.adding import Rows
from benchwright.retrieval.dense.embeddings import Doubles
from benchwright.retrieval.dense.kernels import Kernel
from benchwright.retrieval.dense.scorer import Scorer, Searched
from benchwright.retrieval.dense.tiles import Tile


class Part:
    """Some queries on their way through the documents; parts can go at the same time."""

    def __init__(
        self, index: Searched, vectors: Doubles, *, k: int, kernel: Kernel, n_documents: int
    ) -> None:
        self._scorer = Scorer(index, vectors, k, kernel.dots)
        self._kept = kernel.kept(self._scorer.units, k=k, best=self._scorer.best)
        self._kept.floor[self._scorer.is_zero] = np.inf  # all scores are 0, and ids alone decide
        self._directions = self._scorer.directions()
        self._held = np.empty(len(vectors) * n_documents, dtype=np.float32)

    def take(self, tile: Tile) -> None:
        """Keep of a tile of at most `n_documents` what may be among the k best."""
        shape = len(self._directions), len(tile.vectors)
        products = self._held[: shape[0] * shape[1]].reshape(shape)
        np.matmul(self._directions, tile.vectors.T, out=products)
        self._kept.take(products, tile)

    def results(self) -> list[tuple[Rows, Doubles]]:
        """Of each query the k best rows with their scores, best first; after the last tile."""
        self._kept.let_go()
        return list(self._scorer.results(self._kept))
