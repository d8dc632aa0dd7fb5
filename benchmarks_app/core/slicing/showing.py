"""Which slices of a hidden split may be shown, so that no small group of queries is told apart.

A mean over a slice is a sum over its queries. Whoever knows two sums knows their difference, and
with it something about the queries in which the two sets differ. Queries of a family stand for one
another, so families are counted. A set of slices may be shown if, among the hidden queries,

1. each slice has none or at least `SMALLEST_SHOWN` families;
2. every two of them, all hidden queries being one of them, differ in none or in at least as many;
3. no combination of several of them, whatever each is multiplied by, tells of fewer.

A weighted mean is a sum as well, in which queries count by their weights.

The third is decided among groups of queries that are in exactly the same sums. A combination that
tells of few families is 0 in every group of many: so the combinations that are, a space of few
dimensions, are looked through. One of them that tells of as little as possible is fixed by where
else it is 0, in one group fewer than the space has dimensions.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
# What each query is multiplied by in a sum; those that are not named are not in it.
Sum: TypeAlias = Mapping[Hashable, float]

SMALLEST_SHOWN = 30
# Beyond so many combinations it counts as telling: fewer slices are shown.
MOST_COMBINED = 10_000

NOTHING = 1e-9


def showable_slices(
    slices: Mapping[str, Collection[Hashable]],
    hidden: Collection[Hashable],
    *,
    families: Mapping[Hashable, Hashable] | None = None,
    smallest: int = SMALLEST_SHOWN,
    beside: Iterable[Collection[Hashable]] = (),
    weights: Sum | None = None,
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
    beside
        Other sets of queries whose means are shown: single splits, and those of other releases.
    weights
        What queries count in the weighted mean that is shown beside the plain one.

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
    known = [everything, *(set(one) for one in beside)]
    shown: list[str] = []
    for name in order:
        together = [*known, *(inside[one] for one in shown), inside[name]]
        if is_safe(together, families=families, smallest=smallest, weights=weights):
            shown.append(name)
    return shown


def may_show_weighted(
    weights: Mapping[Hashable, float],
    hidden: Collection[Hashable],
    *,
    families: Mapping[Hashable, Hashable] | None = None,
    smallest: int = SMALLEST_SHOWN,
) -> bool:
    """Whether weighted means may be shown beside plain ones over all hidden queries.

    A weighted sum less c times the plain one counts a query by its weight less c. With a the sum of
    the sizes of these in each family, it is about (sum of a)^2 / (sum of a^2) families (Kish,
    Survey Sampling, 1965, 11.7): as many as there are where all count the same, one where one
    outweighs the others. For c = 0 and every weight these have to be at least `smallest`.

    Examples
    --------
    >>> hidden = range(100)
    >>> may_show_weighted({query: 1 + query / 100 for query in hidden}, hidden)
    True
    >>> may_show_weighted({query: 1 + (query == 7) for query in hidden}, hidden)
    False
    """
    of = families or {}
    numbers: dict[Hashable, int] = {}
    inside = sorted(hidden, key=str)
    family = np.array([numbers.setdefault(of.get(one, one), len(numbers)) for one in inside], int)
    weight = np.array([weights.get(one, 0.0) for one in inside], float)
    weight /= weight.max(initial=0.0) or 1.0
    for level in np.unique(np.append(weight, 0.0)):
        apart = np.bincount(family, np.abs(weight - level), minlength=len(numbers))
        squares = float((apart**2).sum())
        if squares > NOTHING and apart.sum() ** 2 / squares < smallest:
            return False
    return True


def is_safe(
    sets: Sequence[Collection[Hashable]],
    *,
    families: Mapping[Hashable, Hashable] | None = None,
    smallest: int = SMALLEST_SHOWN,
    weights: Sum | None = None,
) -> bool:
    """Whether sums over all of these sets, and a weighted one, tell nothing of fewer families."""
    of = families or {}

    def families_in(queries: Iterable[Hashable]) -> set[Hashable]:
        return {of.get(query, query) for query in queries}

    members = [frozenset(one) for one in sets]
    distinct = list(dict.fromkeys(one for one in members if one))
    if any(len(families_in(one)) < smallest for one in distinct):
        return False
    if any(len(families_in(a ^ b)) < smallest for a, b in combinations(distinct, 2)):
        return False
    sums: list[Sum] = [dict.fromkeys(one, 1.0) for one in distinct]
    if weights:
        largest = max(map(abs, weights.values())) or 1.0
        sums.append({query: weight / largest for query, weight in weights.items()})
    return not _tells_of_few(sums, families_in, smallest)


def _tells_of_few(
    sums: Sequence[Sum],
    families_in: Callable[[Iterable[Hashable]], set[Hashable]],
    smallest: int,
) -> bool:
    """Whether some combination of the sums is about fewer than `smallest` families."""
    inside: dict[tuple[float, ...], set[Hashable]] = {}
    for query in set[Hashable]().union(*sums):
        inside.setdefault(tuple(one.get(query, 0.0) for one in sums), set()).add(query)
    groups = sorted(inside)
    families = [families_in(inside[group]) for group in groups]
    is_small = np.array([len(of) < smallest for of in families], dtype=np.bool_)
    if not is_small.any():
        return False
    matrix = np.array(groups, dtype=np.float64).T
    # Combinations that are 0 in every large group, as what they are in the small ones.
    space = _basis(_vanishing(matrix[:, ~is_small]) @ matrix[:, is_small])
    if not len(space):
        return False
    few = [of for of, small in zip(families, is_small.tolist(), strict=True) if small]
    n_zeros = len(space) - 1
    if comb(len(few), n_zeros) > MOST_COMBINED:
        return True
    for zeros in combinations(range(len(few)), n_zeros):
        vectors = _vanishing(space[:, list(zeros)])
        # Dependent columns leave more than one combination; others that are 0 there fix it.
        if len(vectors) == 1 and _is_about_few(vectors[0] @ space, few, smallest):
            return True
    return False


def _is_about_few(found: Floats, families: Sequence[set[Hashable]], smallest: int) -> bool:
    touched: set[Hashable] = set()
    for place in np.flatnonzero(np.abs(found) > NOTHING * np.abs(found).max()).tolist():
        touched |= families[place]
        if len(touched) >= smallest:
            return False
    return True


def _vanishing(columns: Floats) -> Floats:
    """An orthonormal basis, by rows, of the combinations of rows that are 0 in every column."""
    n = len(columns)
    if not columns.shape[1]:
        return np.eye(n)
    left, sizes, _ = np.linalg.svd(columns)
    return left[:, _rank(sizes) :].T


def _basis(rows: Floats) -> Floats:
    """An orthonormal basis of what the rows span."""
    if not rows.size:
        return np.zeros((0, rows.shape[1]))
    _, sizes, right = np.linalg.svd(rows, full_matrices=False)
    return right[: _rank(sizes)]


def _rank(sizes: Floats) -> int:
    return int((sizes > NOTHING * max(float(sizes.max(initial=0.0)), 1.0)).sum())
