"""What holds a family together, and how surely."""

from collections.abc import Collection, Iterable
from typing import NamedTuple


class Held(NamedTuple):
    """A link between two members, as sure as it is; 1 where a person said so."""

    a: int
    b: int
    similarity: float


def weakest_needed(members: Collection[int], links: Iterable[Held]) -> Held | None:
    """The weakest of the links without which the members would fall apart; None if they do.

    Of all ways to hold them together, that of the strongest links is meant.

    Examples
    --------
    >>> weakest_needed([1, 2, 3], [Held(1, 2, 0.9), Held(2, 3, 0.7), Held(1, 3, 0.6)])
    Held(a=2, b=3, similarity=0.7)
    >>> weakest_needed([1, 2, 3], [Held(1, 2, 0.9)]) is None
    True
    """
    root = {member: member for member in members}

    def first(member: int) -> int:
        while root[member] != member:
            root[member] = member = root[root[member]]
        return member

    weakest = None
    n_apart = len(root)
    for link in sorted(links, key=lambda link: (-link.similarity, link.a, link.b)):
        if first(link.a) != first(link.b):
            root[first(link.b)] = first(link.a)
            n_apart -= 1
            weakest = link
    return weakest if n_apart == 1 else None


def doubt_in(members: Collection[int], links: Iterable[Held]) -> float:
    """1 less the similarity of the weakest needed link; 1 where nothing holds the members together.

    Examples
    --------
    >>> doubt_in([1], [])
    0.0
    >>> doubt_in([1, 2], [])
    1.0
    """
    if len(members) < 2:
        return 0.0
    weakest = weakest_needed(members, links)
    return 1.0 - weakest.similarity if weakest else 1.0
