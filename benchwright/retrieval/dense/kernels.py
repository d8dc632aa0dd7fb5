"""What looks through products and scores candidates: compiled by numba where it is installed.

Without it numpy does both; the results are the same to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchwright.retrieval.dense import keeping
from benchwright.retrieval.dense.embeddings import Doubles, Rows
from benchwright.retrieval.errors import KernelError
from benchwright.retrieval.sparse.kernels import NUMBA, has_numba

NUMPY = "numpy"
# Products of a query with a document from which on numba has loaded and compiled before numpy ends.
WORTH_COMPILING = 500_000_000


@dataclass(frozen=True, slots=True)
class Kernel:
    """The two parts of a search that are not a matrix product."""

    kept: type[keeping.Kept]
    dots: Callable[[Any, Any, Rows], Doubles]


def dots(vectors: Any, others: Any, which: Rows) -> Doubles:
    """Of each row of `vectors` with row `which` of `others`; as many as `vectors` has rows.

    Products in 64 bits are added in an order that only the number of dimensions decides: the
    second half is added to the first, then the second half of those sums to their first, and so
    on. So equal vectors have equal scores wherever they stand, a compiled loop gives the same to
    the last bit, and the error grows with the logarithm of the dimensions.
    """
    products = np.multiply(vectors, others[which], dtype=np.float64)
    n = products.shape[1]
    while n > 1:
        half = (n + 1) // 2
        products[:, : n - half] += products[:, half:n]
        n = half
    sums: Doubles = products[:, 0].copy()
    return sums


def kernel_for(n_products: int) -> str:
    """The kernel that is quicker for so many products, compiling included."""
    return NUMBA if n_products >= WORTH_COMPILING and has_numba() else NUMPY


def kernel_named(name: str) -> Kernel:
    """The kernel of that name.

    Raises
    ------
    KernelError
        If there is none, or it is not installed.
    """
    if name == NUMPY:
        return Kernel(keeping.Kept, dots)
    if name != NUMBA:
        raise KernelError(kernel=name, reason=f"expected {NUMBA} or {NUMPY}. Choose one of them.")
    if not has_numba():
        raise KernelError(kernel=name, reason="numba cannot be loaded. Install the extra `fast`.")
    from benchwright.retrieval.dense import compiled

    return Kernel(compiled.CompiledKept, compiled.dots)
