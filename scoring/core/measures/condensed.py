"""Condensed lists: what a ranking looks like without its unjudged documents."""

from scoring.core.reading.hits import Hit, Qid, QueryHits, TieGroup


def condensed(found: QueryHits[Qid]) -> QueryHits[Qid]:
    """The judged documents only, ranked from 1. trec_eval's `-J`; Sakai, SIGIR 2007.

    Overrates a run that the pool did not hold, so never show it alone (see `core.unjudged`).

    Examples
    --------
    >>> condensed(QueryHits("q", (Hit(2, 0), Hit(5, -1), Hit(9, 3)), 50)).hits
    (Hit(rank=1, grade=0), Hit(rank=2, grade=3))
    """
    judged = [hit for hit in found.hits if hit.grade >= 0]
    hits = tuple(Hit(rank, hit.grade) for rank, hit in enumerate(judged, start=1))
    ties = tuple(group for of in found.ties if (group := _judged_of(of, judged)).size > 1)
    return QueryHits(found.qid, hits, len(hits), ties)


def _judged_of(group: TieGroup, judged: list[Hit]) -> TieGroup:
    end = group.first + group.size
    n_above = sum(hit.rank < group.first for hit in judged)
    return TieGroup(n_above + 1, sum(group.first <= hit.rank < end for hit in judged))
