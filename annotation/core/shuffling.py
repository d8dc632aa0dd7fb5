"""In which order the documents in somebody's hand come onto the screen."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InHand:
    """A document that somebody holds: its place in the queue and the best rank a run gave it."""

    key: int
    query: int
    position: int
    best_rank: int | None
    is_later: bool


def shown_order(
    documents: Iterable[InHand], *, seed: int, person: int, order: str, first: int | None = None
) -> list[InHand]:
    """Return the documents as one person sees them: query by query, what was put off at the end.

    Parameters
    ----------
    first
        The query to begin with; the others follow in the order of the queue.

    Notes
    -----
    A queue that goes rank by rank is shuffled within each rank, a list is shown as it is, and any
    other queue is shuffled among what is in hand: which of the next few documents a system placed
    first is not to be seen from the order. Documents that no run ranked belong to the rank before
    them in the queue. The shuffle is by SHA-256 of seed, person and document, so it is each
    person's own and stays.
    """
    queries: dict[int, list[InHand]] = {}

    def place(document: InHand) -> tuple[bool, int, int]:
        return document.query != first, document.position, document.key

    for document in sorted(documents, key=place):
        queries.setdefault(document.query, []).append(document)

    def drawn(document: InHand) -> bytes:
        return hashlib.sha256(f"{seed} {person} {document.key}".encode()).digest()

    return [
        document
        for of_query in queries.values()
        for _, _, _, document in sorted(
            (
                (document.is_later, layer, drawn(document), document)
                for layer, document in _layered(of_query, order)
            ),
            key=lambda row: row[:3],
        )
    ]


def _layered(of_query: list[InHand], order: str) -> Iterable[tuple[int, InHand]]:
    """Each document with what it is not shuffled across; given in the order of the queue."""
    rank = 0
    for document in of_query:
        rank = document.best_rank or rank
        layers = {"layered": rank, "listed": document.position}
        yield layers.get(order, 0), document
