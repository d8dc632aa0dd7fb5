"""Which slices of a hidden split may be shown, so that no small group of queries is told apart.

A mean over a slice is a sum over its queries. Whoever knows two sums knows their difference, and
with it something about the queries in which the two sets differ. Queries of a family stand for one
another, so families are counted. A set of slices may be shown if, among the hidden queries,

1. each slice has none or at least `SMALLEST_SHOWN` families;
2. every two of them, all hidden queries being one of them, differ in none or in at least as many;
3. no sum or difference of several of them tells of fewer.

The third is looked for among queries that are in exactly the same slices: what the shown sums say
of each such group is worked out by elimination.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

SMALLEST_SHOWN = 30
# Beyond so many, combinations of what elimination gives are not tried: fewer slices are shown.
MOST_COMBINED = 12

NOTHING = 1e-9


def showable_slices(
    slices: Mapping[str, Collection[Hashable]],
    hidden: Collection[Hashable],
    *,
    families: Mapping[Hashable, Hashable] | None = None,
    smallest: int = SMALLEST_SHOWN,
) -> list[str]:
    """Names of slices that may be shown together beside the mean over all hidden queries.

    Parameters
    ----------
    slices
        The registered slices with their queries; only `hidden` ones count, as the values of the
        others are public.
    hidden
        Every query whose values are hidden.
    families
        The family of each query; one without is a family of its own.
    smallest
        Of how many families nothing may be told.

    Notes
    -----
    Larger slices go first, equal ones by name; one that would tell too much beside those before
    it is left out. The same slices and queries always give the same answer.

    Examples
    --------
    >>> hidden = range(100)
    >>> showable_slices({"head": range(40), "most": range(80), "few": range(20)}, hidden)
    ['head']
    >>> showable_slices({"head": range(40), "rest": range(40, 100)}, hidden)
    ['rest', 'head']
    """
    everything = set(hidden)
    inside = {name: everything & set(members) for name, members in slices.items()}
    order = sorted(inside, key=lambda name: (-len(inside[name]), name))
    shown: list[str] = []
    for name in order:
        together = [everything, *(inside[one] for one in shown), inside[name]]
        if is_safe(together, families=families, smallest=smallest):
            shown.append(name)
    return shown


def is_safe(
    sets: Sequence[Collection[Hashable]],
    *,
    families: Mapping[Hashable, Hashable] | None = None,
    smallest: int = SMALLEST_SHOWN,
) -> bool:
    """Whether sums over all of these sets together tell nothing of fewer families."""
    of = families or {}

    def n_families(queries: Collection[Hashable]) -> int:
        return len({of.get(query, query) for query in queries})

    members = [frozenset(one) for one in sets]
    distinct = list(dict.fromkeys(one for one in members if one))
    if any(n_families(one) < smallest for one in distinct):
        return False
    if any(n_families(a ^ b) < smallest for a, b in combinations(distinct, 2)):
        return False
    return not _tells_of_few(distinct, n_families, smallest)


def _tells_of_few(
    sets: Sequence[frozenset[Hashable]],
    n_families: Callable[[Collection[Hashable]], int],
    smallest: int,
) -> bool:
    """Whether some combination of the sums is about fewer than `smallest` families."""
    inside: dict[frozenset[int], set[Hashable]] = {}
    for query in frozenset[Hashable]().union(*sets):
        group = frozenset(place for place, one in enumerate(sets) if query in one)
        inside.setdefault(group, set()).add(query)
    sizes = {group: n_families(queries) for group, queries in inside.items()}
    # Small groups first: elimination then solves for them where it can.
    groups = sorted(sizes, key=lambda group: (sizes[group], sorted(group)))
    if not groups or sizes[groups[0]] >= smallest:
        return False
    matrix = np.array([[place in group for group in groups] for place in range(len(sets))], float)
    weights = np.array([sizes[group] for group in groups])
    rows, pivots = _reduced(matrix)
    small = rows[weights[pivots] < smallest]
    if len(small) > MOST_COMBINED:
        return True

    def told_of(row: Floats) -> set[Hashable]:
        """The queries a combination is about; rounding can only make it look like fewer."""
        touched = np.flatnonzero(np.abs(row) > NOTHING)
        return set[Hashable]().union(*(inside[groups[place]] for place in touched))

    # A sum that is about few families is one of rows that each begin with some of these few.
    return any(
        n_families(told_of(small[list(chosen)].sum(axis=0))) < smallest
        for n in range(1, len(small) + 1)
        for chosen in combinations(range(len(small)), n)
    )


def _reduced(matrix: Floats) -> tuple[Floats, list[int]]:
    """The reduced row echelon form without rows of zeros, and the column each row begins with."""
    rows, pivots = matrix.copy(), list[int]()
    for column in range(rows.shape[1]):
        top = len(pivots)
        if top == len(rows):
            break
        best = top + int(np.abs(rows[top:, column]).argmax())
        if abs(rows[best, column]) < NOTHING:
            continue
        rows[[top, best]] = rows[[best, top]]
        rows[top] /= rows[top, column]
        others = np.arange(len(rows)) != top
        rows[others] -= np.outer(rows[others, column], rows[top])
        pivots.append(column)
    return rows[: len(pivots)], pivots
