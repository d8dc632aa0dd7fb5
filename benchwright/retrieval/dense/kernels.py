"""What looks through products and scores candidates: compiled by numba where it is installed.

Without it numpy does both; the results are the same to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchwright.retrieval.dense import adding, keeping
from benchwright.retrieval.dense.adding import Rows
from benchwright.retrieval.dense.embeddings import Doubles
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
        return Kernel(keeping.Kept, adding.dots)
    if name != NUMBA:
        raise KernelError(kernel=name, reason=f"expected {NUMBA} or {NUMPY}. Choose one of them.")
    if not has_numba():
        raise KernelError(kernel=name, reason="numba cannot be loaded. Install the extra `fast`.")
    from benchwright.retrieval.dense import compiled

    return Kernel(compiled.CompiledKept, compiled.dots)
