"""Whether a submission looks made to read hidden grades off its score.

Who sends the same ranking again with one document moved learns from the change of the mean what
that document's grade is. So two submissions are laid on each other, over the hidden queries alone:
whatever else was changed beside them to look different does not count.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

Rankings: TypeAlias = Mapping[str, Sequence[str]]
"""The first documents of each query, best first; a query without any may be left out."""
Key = TypeVar("Key")

DEPTH = 10
"""How far down rankings are compared: what decides most of a score."""
FEW_QUERIES = 3
"""A submission that differs in so many queries, or fewer, asks about just these."""
NEAR = 0.95
"""Share of equal places from which two rankings are nearly the same."""
FEWEST_QUERIES = 10
"""Below so many queries, "few of them" says nothing."""

FEW_DOCUMENTS = 0.2
"""Share of places with a document of their own at which many queries have the same ones."""

SINGLE_QUERY, NEAR_IDENTICAL = "single_query", "near_identical"
SAME_DOCUMENTS, REORDERED = "same_documents", "reordered"
SAME_CANDIDATES = "same_candidates"


@dataclass(frozen=True, slots=True)
class Likeness:
    """How far two rankings agree: over how many queries and places, and where they do not."""

    n_queries: int
    n_places: int
    n_equal: int
    differing: tuple[str, ...]

    @property
    def share(self) -> float:
        """Places with the same document in both; 1 where neither has any."""
        return self.n_equal / self.n_places if self.n_places else 1.0


def likeness(first: Rankings, other: Rankings, qids: Iterable[str]) -> Likeness:
    """How far two submissions agree in these queries, down to the lists' ends.

    A place is a rank that either of them fills; it is equal where both have the same document.

    Examples
    --------
    >>> likeness({"q": ["a", "b"]}, {"q": ["a", "c", "b"]}, ["q", "r"])
    Likeness(n_queries=2, n_places=3, n_equal=1, differing=('q',))
    """
    n_queries = n_places = n_equal = 0
    differing = []
    for qid in qids:
        mine, theirs = first.get(qid, ()), other.get(qid, ())
        longest = max(len(mine), len(theirs))
        equal = sum(a == b for a, b in zip(mine, theirs, strict=False))
        n_queries, n_places, n_equal = n_queries + 1, n_places + longest, n_equal + equal
        if equal < longest:
            differing.append(qid)
    return Likeness(n_queries, n_places, n_equal, tuple(differing))


def suspicion(agreement: Likeness) -> str:
    """What two submissions look like: `SINGLE_QUERY`, `NEAR_IDENTICAL`, or "" for nothing.

    Examples
    --------
    >>> suspicion(Likeness(100, 1000, 990, ("q7",)))
    'single_query'
    >>> suspicion(Likeness(100, 1000, 950, tuple("abcdefg"))), suspicion(Likeness(5, 50, 50, ()))
    ('near_identical', '')
    """
    if agreement.n_queries < FEWEST_QUERIES or not agreement.n_places:
        return ""
    if 0 < len(agreement.differing) <= FEW_QUERIES:
        return SINGLE_QUERY
    return NEAR_IDENTICAL if agreement.share >= NEAR else ""


def most_alike(
    rankings: Rankings, earlier: Mapping[Key, Rankings], qids: Collection[str]
) -> tuple[Key, Likeness] | None:
    """The earlier submission that is most suspiciously like this one; None where none is.

    One that differs in few queries goes before one that is nearly the same, then the one with the
    fewest queries that differ, then the most equal places; of equal ones the first.
    """
    best: tuple[tuple[bool, int, float], Key, Likeness] | None = None
    for key, theirs in earlier.items():
        alike = likeness(rankings, theirs, qids)
        kind = suspicion(alike)
        if not kind:
            continue
        place = (kind != SINGLE_QUERY, len(alike.differing), -alike.share)
        if best is None or place < best[0]:
            best = (place, key, alike)
    return None if best is None else best[1:]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Queries for which two submissions list the same documents, and those in another order."""

    n_queries: int
    n_equal: int
    n_reordered: int

    @property
    def share(self) -> float:
        return self.n_equal / self.n_queries if self.n_queries else 0.0


def distinct_share(rankings: Rankings, qids: Iterable[str]) -> float:
    """Distinct documents over places: 1 where no document is listed for two of the queries.

    Examples
    --------
    >>> distinct_share({"q": ["a", "b"], "r": ["b", "a"]}, ["q", "r"]), distinct_share({}, ["q"])
    (0.5, 1.0)
    """
    listed = [docid for qid in qids for docid in rankings.get(qid, ())]
    return len(set(listed)) / len(listed) if listed else 1.0


def candidates(first: Rankings, other: Rankings, qids: Iterable[str]) -> Candidates:
    """In how many of these queries that either answers the same documents are listed first.

    Examples
    --------
    >>> candidates({"q": ["a", "b"], "r": ["c"]}, {"q": ["b", "a"], "r": ["d"]}, ["q", "r", "s"])
    Candidates(n_queries=2, n_equal=1, n_reordered=1)
    """
    pairs = [(first.get(qid, ()), other.get(qid, ())) for qid in qids]
    answered = [(mine, theirs) for mine, theirs in pairs if mine or theirs]
    equal = [(mine, theirs) for mine, theirs in answered if set(mine) == set(theirs)]
    n_reordered = sum(list(mine) != list(theirs) for mine, theirs in equal)
    return Candidates(len(answered), len(equal), n_reordered)


def suspicion_of_candidates(overlap: Candidates, *, is_own: bool) -> str:
    """What equal candidates look like: `REORDERED` own ones, or the `SAME_CANDIDATES` as others'.

    Lists that are equal in order as well are for `suspicion` to tell, where they are one's own.

    Examples
    --------
    >>> suspicion_of_candidates(Candidates(100, 99, 90), is_own=True)
    'reordered'
    >>> suspicion_of_candidates(Candidates(100, 99, 3), is_own=True)
    ''
    >>> suspicion_of_candidates(Candidates(100, 95, 0), is_own=False)
    'same_candidates'
    """
    if overlap.n_queries < FEWEST_QUERIES or overlap.share < NEAR:
        return ""
    if not is_own:
        return SAME_CANDIDATES
    return REORDERED if overlap.n_reordered > FEW_QUERIES else ""
