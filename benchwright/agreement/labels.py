"""Labels as columns: which rater gave which item which grade; nothing where nobody did."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Row = tuple[Hashable, Hashable, Hashable, int]


@dataclass(frozen=True, slots=True)
class Labels:
    """One entry of `items`, `raters` and `grades` for each label, as positions.

    `grades` are positions on `scale` (ascending); `clusters` has the query of each item, as a
    position in `query_keys`. At most one label of a rater and item.
    """

    items: Ints
    raters: Ints
    grades: Ints
    clusters: Ints
    scale: tuple[int, ...]
    query_keys: tuple[Hashable, ...]
    rater_keys: tuple[Hashable, ...]

    @classmethod
    def from_rows(cls, rows: Iterable[Row], scale: Sequence[int] | None = None) -> Self:
        """From (query, item within the query, rater, grade); keys keep the order they come in.

        A grade that is not on the scale is taken as missing; without a scale, the grades that
        occur are it.
        """
        items: dict[tuple[Hashable, Hashable], int] = {}
        queries: dict[Hashable, int] = {}
        raters: dict[Hashable, int] = {}
        clusters: list[int] = []
        table: list[tuple[int, int, int]] = []
        for query, name, rater, grade in rows:
            item = items.setdefault((query, name), len(items))
            if item == len(clusters):
                clusters.append(queries.setdefault(query, len(queries)))
            table.append((item, raters.setdefault(rater, len(raters)), grade))
        columns = np.array(table, dtype=np.int64).reshape(-1, 3)
        grades = np.array(
            sorted(scale) if scale is not None else np.unique(columns[:, 2]), dtype=np.int64
        )
        on_scale = np.isin(columns[:, 2], grades)
        columns = columns[on_scale]
        return cls(
            columns[:, 0],
            columns[:, 1],
            np.searchsorted(grades, columns[:, 2]),
            np.array(clusters, dtype=np.int64),
            tuple(int(grade) for grade in grades),
            tuple(queries),
            tuple(raters),
        )

    @property
    def n_items(self) -> int:
        return len(self.clusters)

    @property
    def n_grades(self) -> int:
        return len(self.scale)

    def __len__(self) -> int:
        return len(self.items)

    def where(self, chosen: NDArray[np.bool_]) -> Self:
        """Some of the labels; items that lose all of theirs stay, without any."""
        return replace(
            self, items=self.items[chosen], raters=self.raters[chosen], grades=self.grades[chosen]
        )

    def counts(self) -> Ints:
        """Items x grades: how many raters gave each grade."""
        flat = self.items * self.n_grades + self.grades
        return np.bincount(flat, minlength=self.n_items * self.n_grades).reshape(
            self.n_items, self.n_grades
        )


def split_at(counts: Ints, position: int) -> Ints:
    """Counts of two grades: below `position` on the scale, and from it on."""
    return np.stack([counts[:, :position].sum(axis=1), counts[:, position:].sum(axis=1)], axis=1)


NOBODY = -1


def consensus_of_others(labels: Labels) -> Ints:
    """For each label the lower median of the item's other labels, as a position on the scale.

    -1 where nobody else labelled the item. No rater is compared with a consensus that holds their
    own grade.
    """
    counts = labels.counts()
    by_own = np.stack(
        [_lower_median_without(counts, grade) for grade in range(labels.n_grades)], axis=1
    )
    return by_own[labels.items, labels.grades]


def _lower_median_without(counts: Ints, grade: int) -> Ints:
    """The lower median of each item's labels, one label of `grade` taken away."""
    others = counts.copy()
    others[:, grade] -= 1
    n_others = others.sum(axis=1)
    upto = others.cumsum(axis=1)
    middle = (n_others - 1) // 2
    medians = (upto <= middle[:, None]).sum(axis=1)
    return np.where((n_others > 0) & (others[:, grade] >= 0), medians, NOBODY)


def confusion(labels: Labels, consensus: Ints) -> Ints:
    """Grades x grades: how often the others' consensus (row) met which grade (column)."""
    is_settled = consensus != NOBODY
    g = labels.n_grades
    flat = consensus[is_settled] * g + labels.grades[is_settled]
    return np.bincount(flat, minlength=g * g).reshape(g, g)
