"""A heap of the best documents so far, compiled: its root is the worst of them."""

from collections.abc import Callable
from typing import Any

from numba import njit

from benchwright.retrieval.sparse.counting import Floats, Integers


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled when first called; kept on disk where there is a folder that can be written."""
    try:
        return njit(function, cache=True, nogil=True)  # type: ignore[no-any-return]
    except RuntimeError:
        return njit(function, nogil=True)  # type: ignore[no-any-return]


def pasted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Pasted into its callers: a call with an array costs more than a step of the search."""
    return njit(function, inline="always", nogil=True)  # type: ignore[no-any-return]


@compiled
def keep(columns: Integers, scores: Floats, n: int, column: int, score: float) -> int:
    """Put a document on the heap, whose root is the worst; returns how many it holds."""
    if n < len(columns):
        _push(columns, scores, n, column, score)
        return n + 1
    if _is_worse(scores[0], columns[0], score, column):
        _replace_root(columns, scores, n, column, score)
    return n


@pasted
def _is_worse(score: float, column: int, other: float, other_column: int) -> bool:
    return score < other or (score == other and column > other_column)


@compiled
def _push(columns: Integers, scores: Floats, n: int, column: int, score: float) -> None:
    place = n
    while place > 0:
        parent = (place - 1) // 2
        if not _is_worse(score, column, scores[parent], columns[parent]):
            break
        scores[place], columns[place] = scores[parent], columns[parent]
        place = parent
    scores[place], columns[place] = score, column


@compiled
def _replace_root(columns: Integers, scores: Floats, n: int, column: int, score: float) -> None:
    place = 0
    while 2 * place + 1 < n:
        child = 2 * place + 1
        if child + 1 < n and _is_worse(
            scores[child + 1], columns[child + 1], scores[child], columns[child]
        ):
            child += 1
        if not _is_worse(scores[child], columns[child], score, column):
            break
        scores[place], columns[place] = scores[child], columns[child]
        place = child
    scores[place], columns[place] = score, column


@compiled
def sort(columns: Integers, scores: Floats, n: int) -> None:
    """Take the worst from the heap to the end, again and again."""
    for end in range(n - 1, 0, -1):
        score, column = scores[end], columns[end]
        scores[end], columns[end] = scores[0], columns[0]
        _replace_root(columns, scores, end, column, score)
