"""The result lists of several runs for one query, beside each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchwright.formats.unlisted import NOT_LISTED_GRADE, UNKNOWN


@dataclass(frozen=True, slots=True)
class Place:
    """A document in a run's list; `grade` is None where nobody has judged it.

    `elsewhere` holds its rank in each other run, None where that run does not have it as far down
    as it was looked at.
    """

    rank: int
    docid: str
    grade: int | None
    elsewhere: Mapping[str, int | None]

    @property
    def move(self) -> int | None:
        """Ranks gained over the one other run (negative: lost); None if that lacks it.

        Examples
        --------
        >>> Place(2, "d", 1, {"old": 5}).move, Place(2, "d", 1, {"old": None}).move
        (3, None)
        """
        others = list(self.elsewhere.values())
        if len(others) != 1 or others[0] is None:
            return None
        return others[0] - self.rank

    @property
    def is_only_here(self) -> bool:
        """Whether no other run has it."""
        return all(rank is None for rank in self.elsewhere.values())


@dataclass(frozen=True, slots=True)
class Column:
    """The first results of one run, and what it lacks among the first of the others.

    `lacking` holds documents as the other run has them, best grade first; their `elsewhere` says
    where this run has them after all.
    """

    run: str
    places: tuple[Place, ...]
    lacking: tuple[Place, ...]

    @property
    def n_judged(self) -> int:
        """How many of the first results somebody has judged."""
        return sum(place.grade is not None for place in self.places)


def side_by_side(
    rankings: Mapping[str, Sequence[str]],
    grades: Mapping[str, int],
    *,
    depth: int = 10,
    unlisted: int = NOT_LISTED_GRADE[UNKNOWN],
) -> list[Column]:
    """A column for each run, in their order.

    Parameters
    ----------
    rankings
        Documents of each run in rank order, as far down as is to be looked at.
    grades
        Of the query; a grade below 0 was pooled and is not judged.
    depth
        How many results a column shows.
    unlisted
        The grade of documents that have none; below 0 nobody has judged them.

    Examples
    --------
    >>> old, new = side_by_side({"old": ["a", "b"], "new": ["b", "c"]}, {"a": 1, "b": 0}, depth=1)
    >>> new.places[0].move, [place.docid for place in new.lacking]
    (1, ['a'])
    """
    rank_of = {
        run: {docid: rank for rank, docid in enumerate(docids, start=1)}
        for run, docids in rankings.items()
    }

    def judged(docid: str) -> int | None:
        grade = grades.get(docid, unlisted)
        return grade if grade >= 0 else None

    def place(run: str, docid: str) -> Place:
        elsewhere = {other: ranks.get(docid) for other, ranks in rank_of.items() if other != run}
        return Place(rank_of[run][docid], docid, judged(docid), elsewhere)

    columns = {
        run: [place(run, docid) for docid in docids[:depth]] for run, docids in rankings.items()
    }
    return [
        Column(run, tuple(places), _lacking(run, columns, depth)) for run, places in columns.items()
    ]


def _lacking(run: str, columns: Mapping[str, Sequence[Place]], depth: int) -> tuple[Place, ...]:
    """What others have among their first and this run has not; each once, where it is highest."""
    best: dict[str, Place] = {}
    for other, places in columns.items():
        for place in places:
            rank = place.elsewhere.get(run)
            if other == run or (rank is not None and rank <= depth):
                continue
            if place.docid not in best or place.rank < best[place.docid].rank:
                best[place.docid] = place
    return tuple(sorted(best.values(), key=_by_grade))


def _by_grade(place: Place) -> tuple[int, int, str]:
    return (-1 if place.grade is None else place.grade) * -1, place.rank, place.docid
