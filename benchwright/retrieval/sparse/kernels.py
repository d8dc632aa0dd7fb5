"""What adds up scores: a compiled kernel where numba is installed, else numpy and scipy.

Both add the same products in the same order, so their results are the same to the last bit.
"""

from collections.abc import Callable, Sequence
from importlib import import_module

from scipy.sparse import csr_array

from benchwright.retrieval.errors import KernelError
from benchwright.retrieval.sparse.found import Found, Stretch

Kernel = Callable[[Stretch, csr_array, int], Sequence[Found]]
"""Postings, queries x features and k in; what each query finds out."""

NUMBA, SCIPY = "numba", "scipy"

# Postings below which everything is found before numba has loaded and compiled.
WORTH_COMPILING = 10_000_000


def kernel_name(name: str | None = None) -> str:
    """`name` itself, or the name of the quickest kernel that is installed.

    Raises
    ------
    KernelError
        If `name` is neither of the two, or numba and not installed.
    """
    if name is None:
        return NUMBA if has_numba() else SCIPY
    if name not in (NUMBA, SCIPY):
        raise KernelError(kernel=name, reason=f"expected {NUMBA} or {SCIPY}. Choose one of them.")
    if name == NUMBA and not has_numba():
        reason = "numba cannot be loaded. Install the extra `fast`, or leave the choice open."
        raise KernelError(kernel=name, reason=reason)
    return name


def kernel_for(n_postings: int) -> str:
    """The kernel that is quicker for an index of this size, compiling included."""
    return kernel_name() if n_postings >= WORTH_COMPILING else SCIPY


def kernel_named(name: str | None = None) -> Kernel:
    """The kernel that `kernel_name` names."""
    if kernel_name(name) == NUMBA:
        from benchwright.retrieval.sparse.compiled import search

        return search
    from benchwright.retrieval.sparse.plain import search as plain_search

    return plain_search


def has_numba() -> bool:
    """Whether numba is there and works: it refuses a numpy that is newer than it knows."""
    try:
        import_module("numba")
    except ImportError:
        return False
    return True
