"""What measures ask of queries, worked out once for all of them; a column has a row a query."""

import sys
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from benchwright.measures.gain import ideal_grades
from benchwright.measures.incomplete import condensed
from benchwright.measures.shared_hits import shared
from benchwright.reading.hits import Hit, Judged, QueryHits, with_unlisted


class Columns:
    """The hits and grades of some queries, and what follows from them.

    `hits`, `n_retrieved`
        Of each query; without what is unjudged where the measure is `judged_only`.
    `judged_hits`
        For measures that look at what was judged not relevant: the hits, with those that complete
        grades need not list.
    `n_relevant`, `n_nonrelevant`
        Judged documents from the measure's `rel` on, and below it; complete grades leave no end to
        the latter, as a collection has many more documents than are relevant.
    `ideal`
        The grades that have a gain by the measure's `gains`, by gain descending.
    `top_of_query`
        The highest grade of the query.
    """

    def __init__(self, query_hits: Sequence[QueryHits[Any]], judged: Sequence[Judged]) -> None:
        self.query_hits = query_hits
        self.judged = judged
        self._known: dict[tuple[str, Any], list[Any]] = {}

    def get(self, name: str, option_of: Callable[[str], Any]) -> list[Any]:
        """The column as a measure with these options sees it."""
        option = option_of(_OPTION_OF[name])
        # Who knows no `judged_only` takes the same hits as who has it off.
        return self._once(name, None if option is False else option)

    def _once(self, name: str, option: Any = None) -> list[Any]:
        key = (name, option)
        if key not in self._known:
            self._known[key] = getattr(self, f"_{name}")(option)
        return self._known[key]

    def seen(self, row: int, need: str, judged_only: bool | None) -> QueryHits[Any]:
        """What a measure that needs `hits` or `judged_hits` sees of a query."""
        if need == "hits" and not judged_only:
            return self.query_hits[row]
        every = with_unlisted(self.query_hits[row], self.judged[row])
        return condensed(every) if judged_only else every

    def _seen(self, judged_only: bool | None) -> Sequence[QueryHits[Any]]:
        if not judged_only:
            return self.query_hits
        return [self.seen(row, "hits", judged_only) for row in range(len(self.query_hits))]

    def _hits(self, judged_only: bool | None) -> list[Sequence[Hit]]:
        return [shared(query.hits) for query in self._seen(judged_only)]

    def _judged_hits(self, _: None) -> list[Sequence[Hit]]:
        if not any(judged.is_complete for judged in self.judged):
            return self._once("hits")
        rows = range(len(self.query_hits))
        return [shared(self.seen(row, "judged_hits", None).hits) for row in rows]

    def _n_retrieved(self, judged_only: bool | None) -> list[int]:
        return [query.n_retrieved for query in self._seen(judged_only)]

    def _ascending(self, _: None) -> list[list[int]]:
        return [sorted(query.grades) for query in self.judged]

    def _n_relevant(self, rel: int) -> list[int]:
        return [len(grades) - bisect_left(grades, rel) for grades in self._once("ascending")]

    def _n_nonrelevant(self, rel: int) -> list[int]:
        return [
            sys.maxsize if judged.is_complete else bisect_left(grades, rel) - bisect_left(grades, 0)
            for judged, grades in zip(self.judged, self._once("ascending"), strict=True)
        ]

    def _ideal(self, gains: tuple[Any, ...] | None) -> list[Sequence[int]]:
        if gains is None:
            return [grades[bisect_left(grades, 1) :][::-1] for grades in self._once("ascending")]
        return [ideal_grades(query.grades, dict(gains)) for query in self.judged]

    def _top_of_query(self, _: None) -> list[int]:
        return [grades[-1] if grades else 0 for grades in self._once("ascending")]


_OPTION_OF = {
    "hits": "judged_only",
    "judged_hits": "",
    "n_retrieved": "judged_only",
    "n_relevant": "rel",
    "n_nonrelevant": "rel",
    "ideal": "gains",
    "top_of_query": "",
}
