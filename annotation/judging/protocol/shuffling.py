"""In which order the documents in somebody's hand come onto the screen."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InHand:
    """A document that somebody holds, with its place in the queue."""

    key: int
    query: int
    position: int
    is_later: bool


def shown_order(
    documents: Iterable[InHand], *, seed: int, person: int, first: int | None = None
) -> list[InHand]:
    """Return the documents as one person sees them: query by query, what was put off at the end.

    Parameters
    ----------
    first
        The query to begin with; the others follow in the order of the queue.

    Notes
    -----
    What is in hand of a query is shuffled: which of the next few documents a system placed first is
    not to be seen from the order, also where an order that learns chose them. The shuffle is by
    SHA-256 of seed, person and document, so it is each person's own and stays.
    """
    queries: dict[int, list[InHand]] = {}

    def place(document: InHand) -> tuple[bool, int, int]:
        return document.query != first, document.position, document.key

    for document in sorted(documents, key=place):
        queries.setdefault(document.query, []).append(document)

    def drawn(document: InHand) -> tuple[bool, bytes]:
        text = f"{seed} {person} {document.key}"
        return document.is_later, hashlib.sha256(text.encode()).digest()

    return [document for of_query in queries.values() for document in sorted(of_query, key=drawn)]
