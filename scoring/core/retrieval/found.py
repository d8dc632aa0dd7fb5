"""What a kernel finds for one query, and its order."""

import numpy as np
import numpy.typing as npt

from scoring.core.retrieval.counting import Floats

Columns = npt.NDArray[np.int64]
Found = tuple[Columns, Floats]
"""Columns and scores of what one query finds, best first."""


def ordered(columns: Columns, scores: Floats, k: int) -> Found:
    """The k best: score descending, then column ascending."""
    if len(scores) > k:
        # Everything tied with the k-th stays in until the columns have decided.
        kept = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
        columns, scores = columns[kept], scores[kept]
    order = np.lexsort((columns, -scores))[:k]
    return columns[order], scores[order]
