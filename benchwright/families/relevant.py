"""Queries that the same documents answer."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import scipy

_PRODUCTS_AT_A_TIME = 20_000_000


def pairs_sharing_documents(
    positives: Sequence[Collection[str]], threshold: float
) -> tuple[Any, Any, Any]:
    """Places a < b of queries, and the Jaccard of their relevant documents where it is enough.

    A query without relevant documents shares none.

    Examples
    --------
    >>> a, b, jaccard = pairs_sharing_documents([{"d1", "d2"}, {"d2"}, {"d3"}, set()], 0.5)
    >>> list(zip(a.tolist(), b.tolist(), jaccard.tolist()))
    [(0, 1, 0.5)]
    """
    sizes = np.array([len(documents) for documents in positives], dtype=np.int64)
    rows = _membership(positives, sizes)
    columns = rows.T.tocsr()
    n_steps = np.append(0, np.cumsum(np.diff(columns.indptr)[rows.indices]))[rows.indptr]
    blocks: list[tuple[Any, Any, Any]] = []
    start = 0
    while start < len(positives):
        stop = int(np.searchsorted(n_steps, n_steps[start] + _PRODUCTS_AT_A_TIME, "right")) - 1
        stop = min(max(stop, start + 1), len(positives))
        shared = (rows[start:stop] @ columns).tocoo()
        a, b = shared.coords[0].astype(np.int64) + start, shared.coords[1].astype(np.int64)
        jaccard = shared.data / (sizes[a] + sizes[b] - shared.data)
        is_enough = (a < b) & (jaccard >= threshold)
        blocks.append((a[is_enough], b[is_enough], jaccard[is_enough].astype(np.float64)))
        start = stop
    a, b, jaccard = (np.concatenate(part) for part in zip(*blocks, strict=True)) if blocks else (
        np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    )  # fmt: skip
    order = np.lexsort((b, a))
    return a[order], b[order], jaccard[order]


def _membership(positives: Sequence[Collection[str]], sizes: Any) -> Any:
    """A matrix of ones: queries by documents."""
    number: dict[str, int] = {}
    columns = [
        number.setdefault(document, len(number))
        for documents in positives
        for document in sorted(documents)
    ]
    starts = np.append(0, np.cumsum(sizes))
    ones = np.ones(len(columns), dtype=np.float64)
    shape = (len(positives), max(len(number), 1))
    return scipy.sparse.csr_array((ones, np.array(columns, dtype=np.int64), starts), shape=shape)
