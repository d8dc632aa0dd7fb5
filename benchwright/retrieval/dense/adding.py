"""Scalar products in 64 bits, added in an order that only the number of dimensions decides.

The second half of the products is added to the first, then the second half of those sums to their
first, and so on: so equal vectors have equal scores wherever they stand, a compiled loop gives the
same to the last bit, and the error grows with the logarithm of the dimensions.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from benchwright.retrieval.dense.embeddings import Doubles

Rows = npt.NDArray[np.int64]


def dots(vectors: Any, others: Any, which: Rows) -> Doubles:
    """Of each row of `vectors` with row `which` of `others`; as many as `vectors` has rows."""
    products = np.multiply(vectors, others[which], dtype=np.float64)
    n = products.shape[1]
    while n > 1:
        half = (n + 1) // 2
        products[:, : n - half] += products[:, half:n]
        n = half
    sums: Doubles = products[:, 0].copy()
    return sums
