"""What searches: any object with this `search`, whatever stands behind it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

Result = tuple[str, list[tuple[str, float]]]
"""Query id, and document id and score of each result, best first."""

Progress = Callable[[int, int], None]
"""Called with the queries done so far and all of them."""


Texts = Mapping[str, Any] | Iterable[tuple[str, Any]]
"""Texts by id, or pairs of both; BEIR's readers give title and text of a document apart."""


def text_pairs(texts: Texts) -> Iterator[tuple[str, str]]:
    """Id and text of each; title and text with a blank between them.

    Examples
    --------
    >>> list(text_pairs({"d1": {"title": "Red", "text": "fish"}})), list(text_pairs([("q", "red")]))
    ([('d1', 'Red fish')], [('q', 'red')])
    """
    for name, text in texts.items() if isinstance(texts, Mapping) else texts:
        if isinstance(text, Mapping):
            text = f"{text.get('title') or ''} {text['text']}".strip()
        yield name, text


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
