"""What searches: any object with this `search`, whatever stands behind it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

Result = tuple[str, list[tuple[str, float]]]
"""Query id, and document id and score of each result, best first."""

Progress = Callable[[int, int], None]
"""Called with the queries done so far and all of them."""


class Searcher(Protocol):
    """A system that answers texts."""

    def search(
        self,
        queries: Sequence[tuple[str, str]],
        *,
        k: int,
        progress: Progress | None = None,
    ) -> Iterator[Result]:
        """The k best documents of each query (id, text), in the order of the queries.

        Order of the documents: score descending, then document id as bytes descending.

        Raises
        ------
        CutoffError
            If `k` is below 1; raised by the call, not by the first result.
        """
        ...
