"""What is told of the hidden queries of a benchmark, by its releases in the order of telling.

Means are told of several releases, over splits and slices, plain and weighted. What was told stays
known. So what came first stays, and what comes later is told only where it goes with all before it
(`showing.is_safe`), whoever asks: whatever two accounts know, they may tell each other.

A query whose grades are others on a later release is another query there, of the same family: two
means over it differ by what differs in its grades. Because that may be little, what is told has to
be safe as well where such queries count as one.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from benchwright.slices.showing import is_safe, showable_slices

# A query, and which of the grades it has had.
Graded: TypeAlias = tuple[str, int]
Grades: TypeAlias = Mapping[str, int]
Name: TypeAlias = Callable[[Graded], Hashable]


@dataclass(frozen=True)
class HiddenMeans:
    """What a release could tell of its hidden queries.

    `parts` are the graded hidden queries of each split, and all of them; `slices` the queries of
    those that may be shown; `grades` are of hidden queries; `public` has those with public grades.
    """

    parts: Collection[frozenset[str]]
    grades: Mapping[str, Grades]
    public: frozenset[str]
    families: Mapping[str, str]
    weights: Mapping[str, float]
    slices: Mapping[str, frozenset[str]]


class MeansTold(NamedTuple):
    """Whether a release tells of its hidden queries, in weighted means too, and by which slices.

    Where `is_told` is false, the others are what it would tell if there were no other release.
    """

    is_told: bool = True
    has_weighted: bool = True
    slices: frozenset[str] = frozenset()


class Telling:
    """What releases tell, each beside those before it; slices too in the order of coming."""

    def __init__(self) -> None:
        self._registered: set[str] = set()
        self._releases: dict[int, HiddenMeans] = {}
        self._told: dict[int, MeansTold] = {}
        # Releases that are not told, each by itself.
        self._apart: dict[int, Telling] = {}
        self._public: set[str] = set()
        self._families: dict[str, str] = {}
        self._grades: dict[str, list[Grades]] = {}
        self._sums: list[frozenset[Graded]] = []
        self._weighted: list[dict[Graded, float]] = []

    def of(self, key: int) -> MeansTold:
        if key in self._apart:
            return self._apart[key].of(key)._replace(is_told=False)
        return self._told[key]

    def add_release(self, key: int, release: HiddenMeans) -> None:
        """Decide what a release tells; of the slices that are registered larger ones go first."""
        parts = [self._graded(release, part) for part in release.parts]
        self._public |= release.public
        self._families.update(release.families)
        if self._sums and not set(parts) <= set(self._sums) and not self._go_with(parts):
            self._apart[key] = alone = Telling()
            alone._registered = set(self._registered)
            alone.add_release(key, release)
            return
        self._releases[key] = release
        self._sums += parts
        weights = self._weights(release)
        has_weighted = not weights or self._go_with([], weights)
        if weights and has_weighted:
            self._weighted.append(weights)
        self._told[key] = MeansTold(has_weighted=has_weighted)
        self._show(key, self._registered)

    def add_slice(self, name: str) -> None:
        """Decide which releases show a slice that was registered when they were told."""
        self._registered.add(name)
        for key in self._releases:
            self._show(key, [name])
        for alone in self._apart.values():
            alone.add_slice(name)

    def _show(self, key: int, names: Iterable[str]) -> None:
        release, told_of = self._releases[key], self._told[key]
        slices = {
            name: self._graded(release, release.slices[name])
            for name in names
            if name in release.slices
        }
        hidden = self._graded(release, release.grades)
        for named in self._names():
            slices = {name: slices[name] for name in self._showable(slices, hidden, named)}
        self._sums += slices.values()
        self._told[key] = told_of._replace(slices=told_of.slices | slices.keys())

    # --- queries by their grades -----------------------------------------------------------

    def _graded(self, release: HiddenMeans, qids: Iterable[str]) -> frozenset[Graded]:
        """The hidden queries among these, each with which of its grades the release has."""
        return frozenset(
            (qid, self._which(qid, release.grades[qid])) for qid in qids if qid in release.grades
        )

    def _which(self, qid: str, grades: Grades) -> int:
        grades_known = self._grades.setdefault(qid, [])
        if grades not in grades_known:
            grades_known.append(grades)
        return grades_known.index(grades)

    def _weights(self, release: HiddenMeans) -> dict[Graded, float]:
        inside = self._graded(release, release.weights)
        return {graded: release.weights[graded[0]] for graded in inside}

    # --- what goes together ----------------------------------------------------------------

    def _go_with(
        self, sums: Sequence[frozenset[Graded]], weights: Mapping[Graded, float] | None = None
    ) -> bool:
        """Whether these are safe beside all that is told."""
        return all(
            is_safe(
                self._seen([*self._sums, *sums], name),
                weights=self._weights_seen(weights, name) if weights else None,
                **self._beside(name),
            )
            for name in self._names()
        )

    def _showable(
        self, slices: Mapping[str, frozenset[Graded]], hidden: frozenset[Graded], name: Name
    ) -> list[str]:
        return showable_slices(
            dict(zip(slices, self._seen(slices.values(), name), strict=True)),
            *self._seen([hidden], name),
            beside=self._seen(self._sums, name),
            **self._beside(name),
        )

    def _names(self) -> list[Name]:
        """Queries by name alone; and by their grades, too, if these ever changed."""
        has_changed = any(len(grades_known) > 1 for grades_known in self._grades.values())
        return [itemgetter(0), _itself] if has_changed else [itemgetter(0)]

    def _seen(self, sums: Iterable[frozenset[Graded]], name: Name) -> list[frozenset[Hashable]]:
        """Sums by what their queries are called, without those that are public."""
        return [
            frozenset(name(graded) for graded in of if graded[0] not in self._public) for of in sums
        ]

    def _weights_seen(self, weights: Mapping[Graded, float], name: Name) -> dict[Hashable, float]:
        return {name(graded): of for graded, of in weights.items() if graded[0] not in self._public}

    def _beside(self, name: Name) -> dict[str, Any]:
        return {
            "families": {
                name((qid, which)): self._families.get(qid, qid)
                for qid, grades_known in self._grades.items()
                for which in range(len(grades_known))
            },
            "weighted": [self._weights_seen(of, name) for of in self._weighted],
        }


def _itself(query: Graded) -> Hashable:
    return query
