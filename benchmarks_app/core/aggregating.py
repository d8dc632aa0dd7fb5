"""From scores of passages to scores of documents: what each rule makes of one query's passages."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from heapq import nlargest
from math import fsum
from typing import NamedTuple

AGGREGATIONS = ("maxp", "firstp", "sump", "rrf")
DEFAULT = "maxp"
LABELS = {
    "maxp": "maxP: the best passage's score",
    "firstp": "firstP: the score of the document's first passage",
    "sump": "sumP: the sum of its three best passages",
    "rrf": "RRF: the sum of 1 / (60 + rank) of its passages",
}
SUMMED = 3
RRF_CONSTANT = 60

COMBINE: Mapping[str, Callable[[list[float]], float]] = {
    "maxp": max,
    "firstp": max,  # of one
    "sump": lambda scores: sum(nlargest(SUMMED, scores)),  # fsum refuses inf - inf, and 3 are few
    "rrf": fsum,
}


class RankedPassage(NamedTuple):
    """A result that is a passage, with its rank from 1."""

    docid: str
    score: float
    rank: int


def documents_of(
    passages: Iterable[RankedPassage],
    parents: Mapping[str, str],
    how: str,
    firsts: Set[str] = frozenset(),
) -> list[tuple[str, float]]:
    """Return the documents of one query's passages, each with its score, in order of first sight.

    `firsts` are the first passages of their documents, which `firstp` asks for. A passage without
    a parent is passed over.

    Examples
    --------
    >>> found = [RankedPassage("a#1", 3.0, 1), RankedPassage("b#0", 2.5, 2),
    ...          RankedPassage("a#0", 1.0, 3)]
    >>> parents = {"a#0": "a", "a#1": "a", "b#0": "b"}
    >>> documents_of(found, parents, "maxp")
    [('a', 3.0), ('b', 2.5)]
    >>> documents_of(found, parents, "firstp", {"a#0", "b#0"})
    [('b', 2.5), ('a', 1.0)]
    >>> documents_of(found, parents, "sump")
    [('a', 4.0), ('b', 2.5)]
    """
    grouped: defaultdict[str, list[float]] = defaultdict(list)
    for passage in passages:
        parent = parents.get(passage.docid)
        if parent and (how != "firstp" or passage.docid in firsts):
            weight = 1 / (RRF_CONSTANT + passage.rank) if how == "rrf" else passage.score
            grouped[parent].append(weight)
    return [(parent, COMBINE[how](weights)) for parent, weights in grouped.items()]
