"""Cutting a stream into lists."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of `size` items in order; the last may be shorter.

    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def batched_by_weight(
    items: Iterable[T], size: int, weight: Callable[[T], int], most: int
) -> Iterator[list[T]]:
    """Yield lists as `batched` does, shorter ones where their weights come to `most`.

    >>> list(batched_by_weight(["a", "bbbb", "c", "d", "e"], 3, len, 4))
    [['a', 'bbbb'], ['c', 'd', 'e']]
    """
    batch: list[T] = []
    total = 0
    for item in items:
        batch.append(item)
        total += weight(item)
        if len(batch) >= size or total >= most:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
