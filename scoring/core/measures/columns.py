"""What measures ask of queries, worked out once for all of them; a column has a row a query."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from scoring.core.measures.condensed import condensed
from scoring.core.measures.gain import ideal_grades
from scoring.core.measures.shared_hits import shared
from scoring.core.reading.hits import Hit, Judged, QueryHits


class Columns:
    """The hits and grades of some queries, and what follows from them.

    `hits`, `n_retrieved`
        Of each query; without what is unjudged where the measure is `judged_only`.
    `n_relevant`, `n_nonrelevant`
        Judged documents from the measure's `rel` on, and below it.
    `ideal`
        The grades that have a gain by the measure's `gains`, by gain descending.
    `top_of_query`
        The highest grade of the query.
    """

    def __init__(self, found: Sequence[QueryHits[Any]], judged: Sequence[Judged]) -> None:
        self.found = found
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

    def _seen(self, judged_only: bool | None) -> Sequence[QueryHits[Any]]:
        return [condensed(query) for query in self.found] if judged_only else self.found

    def _hits(self, judged_only: bool | None) -> list[Sequence[Hit]]:
        return [shared(query.hits) for query in self._seen(judged_only)]

    def _n_retrieved(self, judged_only: bool | None) -> list[int]:
        return [query.n_retrieved for query in self._seen(judged_only)]

    def _ascending(self, _: None) -> list[list[int]]:
        return [sorted(query.grades) for query in self.judged]

    def _n_relevant(self, rel: int) -> list[int]:
        return [len(grades) - bisect_left(grades, rel) for grades in self._once("ascending")]

    def _n_nonrelevant(self, rel: int) -> list[int]:
        return [
            bisect_left(grades, rel) - bisect_left(grades, 0) for grades in self._once("ascending")
        ]

    def _ideal(self, gains: tuple[Any, ...] | None) -> list[Sequence[int]]:
        if gains is None:
            return [grades[bisect_left(grades, 1) :][::-1] for grades in self._once("ascending")]
        return [ideal_grades(query.grades, dict(gains)) for query in self.judged]

    def _top_of_query(self, _: None) -> list[int]:
        return [grades[-1] if grades else 0 for grades in self._once("ascending")]


_OPTION_OF = {
    "hits": "judged_only",
    "n_retrieved": "judged_only",
    "n_relevant": "rel",
    "n_nonrelevant": "rel",
    "ideal": "gains",
    "top_of_query": "",
}
