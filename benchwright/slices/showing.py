"""Which slices of a hidden split may be shown, so that no small group of queries is told apart.

A mean over a slice is a sum over its queries. Whoever knows two sums knows their difference, and
with it something about the queries in which the two sets differ. Queries of a family stand for one
another, so families are counted. A set of slices may be shown if, among the hidden queries,

1. each slice has none or at least `SMALLEST_SHOWN` families;
2. every two of them, all hidden queries being one of them, differ in none or in at least as many;
3. no combination of several of them, whatever each is multiplied by, tells of fewer.

A weighted mean is a sum as well, in which queries count by their weights. Less plain sums it may
tell of a few families nearly, not exactly, where the others weigh nearly the same. So with a the
sum of the sizes of what the queries of each family count, it has to be about `SMALLEST_SHOWN`
families by (sum of a)^2 / (sum of a^2) (Kish, Survey Sampling, 1965, 11.7): as many as there are
where all count the same, one where one outweighs the others.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import combinations, islice, product
from math import comb, prod
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)
Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

SMALLEST_SHOWN = 30
# What is not decided within so many steps, or numbers, counts as telling: fewer slices are shown.
MOST_STEPS = 5_000
MOST_NUMBERS = 40_000_000
# Of looking for the sizes that bound best; each halves what they lack.
N_ROUNDS = 12

NOTHING = 1e-9


def showable_slices(
    slices: Mapping[str, Collection[Hashable]],
    hidden: Collection[Hashable],
    *,
    families: Mapping[Hashable, Hashable] | None = None,
    smallest: int = SMALLEST_SHOWN,
    beside: Iterable[Collection[Hashable]] = (),
    weights: Mapping[Hashable, float] | None = None,
    weighted: Sequence[Mapping[Hashable, float]] = (),
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
    weighted
        The same of other weighted means that are shown.

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
    known_sets = [everything, *(set(queries) for queries in beside)]
    showable: list[str] = []
    for name in order:
        together = [*known_sets, *(inside[other] for other in showable), inside[name]]
        if is_safe(
            together, families=families, smallest=smallest, weights=weights, weighted=weighted
        ):
            showable.append(name)
    return showable


def is_safe(
    sets: Sequence[Collection[Key]],
    *,
    families: Mapping[Key, Hashable] | None = None,
    smallest: int = SMALLEST_SHOWN,
    weights: Mapping[Key, float] | None = None,
    weighted: Sequence[Mapping[Key, float]] = (),
) -> bool:
    """Whether sums over all of these sets, and weighted ones, tell nothing of fewer families.

    `weighted` are more of the kind of `weights`. Where two of them, less any plain sums, are no
    multiples of one another, what is not seen to be safe at once counts as telling.

    Examples
    --------
    >>> hidden = range(100)
    >>> is_safe([hidden], weights={query: 1 + query / 100 for query in hidden})
    True
    >>> is_safe([hidden], weights={query: 1 + (query == 7) for query in hidden})
    False
    """
    of: Mapping[Key, Hashable] = families or {}

    def families_in(queries: Iterable[Key]) -> set[Hashable]:
        return {of.get(query, query) for query in queries}

    members = [frozenset(queries) for queries in sets]
    distinct = list(dict.fromkeys(member for member in members if member))
    if any(len(families_in(queries)) < smallest for queries in distinct):
        return False
    if any(len(families_in(a ^ b)) < smallest for a, b in combinations(distinct, 2)):
        return False
    counts = [weighting for weighting in (*weighted, weights) if weighting]
    if not distinct and not counts:
        return True
    plain, weight, families_by_query = _columns(distinct, counts, of)
    basis = _basis(plain)
    rest = weight - weight @ basis.T @ basis
    beyond = _basis(rest)
    space = np.vstack([basis, beyond])
    if _least_spread(space, families_by_query) >= smallest:
        return True
    if len(beyond) > 1 or _tells_of_few(distinct, families_in, smallest):
        return False
    if not len(beyond):
        return True
    # All others are multiples of it, plus plain sums.
    main = weight[np.abs(rest).max(axis=1).argmax()]
    return not _weighs_few(plain, main, families_by_query, smallest)


def _columns(
    sets: Sequence[Collection[Key]],
    weightings: Sequence[Mapping[Key, float]],
    families: Mapping[Key, Hashable],
) -> tuple[Floats, Floats, Places]:
    """Plain sums, and weighted ones (the largest weight 1), by queries; and their families.

    Queries of a family are side by side.
    """
    numbers: dict[Hashable, int] = {}
    family = {
        query: numbers.setdefault(families.get(query, query), len(numbers))
        for query in sorted(set[Key]().union(*weightings, *sets), key=str)
    }
    queries = sorted(family, key=family.__getitem__)
    plain = np.array([[query in of_set for query in queries] for of_set in sets], np.float64)
    weight = np.array(
        [[each.get(query, 0.0) for query in queries] for each in weightings], np.float64
    ).reshape(len(weightings), len(queries))
    weight /= np.abs(weight).max(axis=1, keepdims=True, initial=NOTHING)
    by_query = np.array([family[query] for query in queries])
    return plain.reshape(len(sets), len(queries)), weight, by_query


def _least_spread(basis: Floats, family: Places) -> float:
    """A number of families that each combination of rows is about, by Kish's formula, or fewer.

    Notes
    -----
    Let v be a combination, a the columns and t any sizes above 0. With G = sum a a' / t and
    s = sqrt(a' G^-1 a), Cauchy and Schwarz give |v| <= s sqrt(sum v^2 / t) in each column, and
    sum v^2 / t <= max(|v| / t) sum |v|; so max(|v| / t) <= max(s / t)^2 sum |v|, and
    |v| <= s max(s / t) sum |v|. Where these bounds add up to b at most in a family, it has no
    larger a part in v than b, and v is about 1 / b families at least. The best t, Lewis weights,
    are t = s (Cohen and Peng, Lp row sampling by Lewis weights, STOC 2015).
    """
    is_in = np.abs(basis).max(axis=0) > NOTHING
    basis, family, best = basis[:, is_in], family[is_in], 0.0
    size = np.ones(len(family))
    for _ in range(N_ROUNDS):
        share = np.sqrt(size) * np.linalg.norm(np.linalg.qr((basis / np.sqrt(size)).T)[0], axis=1)
        bounds = np.bincount(family, share * (share / size).max())
        best = max(best, 1 / float(bounds.max()))
        size = share
    return best


def _tells_of_few(
    sets: Sequence[Collection[Key]],
    families_in: Callable[[Iterable[Key]], set[Hashable]],
    smallest: int,
) -> bool:
    """Whether some combination of sums over the sets is about fewer than `smallest` families.

    Queries that are in the same sets go together. A combination that tells of few families is 0 in
    every group of many, and so are all in `space`. From there on each group in turn is either one
    where it is 0, which leaves a dimension fewer, or one it tells of, which leaves fewer families:
    there are few ways, however many groups there are.
    """
    inside: dict[tuple[bool, ...], set[Key]] = {}
    for query in set[Key]().union(*sets):
        inside.setdefault(tuple(query in members for members in sets), set()).add(query)
    # The groups of most families first: few of these are touched.
    counted = sorted(
        ((families_in(queries), group) for group, queries in inside.items()),
        key=lambda pair: (-len(pair[0]), pair[1]),
    )
    matrix = np.array([group for _, group in counted], dtype=np.float64).T
    n_large = sum(len(families) >= smallest for families, _ in counted)
    groups = [families for families, _ in counted[n_large:]]
    if not groups:
        return False
    # Combinations that are 0 in every large group, as what they are in the small ones.
    space = _basis(_vanishing(matrix[:, :n_large]) @ matrix[:, n_large:])
    steps: list[tuple[Floats, int, set[Hashable]]] = [(space, 0, set())] if len(space) else []
    for _ in range(MOST_STEPS):
        if not steps:
            return False
        space, start, touched = steps.pop()
        is_left = np.abs(space[:, start:]).max(axis=0) > NOTHING
        numbers_left = (start + np.flatnonzero(is_left)).tolist()
        place = next((number for number in numbers_left if not groups[number] <= touched), None)
        if place is None:
            return True
        if len(touched | groups[place]) < smallest:
            steps.append((space, place + 1, touched | groups[place]))
        if len(space) > 1:
            steps.append((_zero_at(space, place), place + 1, touched))
    return True


def _weighs_few(plain: Floats, weight: Floats, family: Places, smallest: int) -> bool:
    """Whether the weighted sum less some plain ones is about fewer than `smallest` families.

    Notes
    -----
    What is taken off is the same in each cell, the queries that are in the same sets: its level.
    Between levels at which some query counts for nothing, sizes are linear, so the root of Kish's
    number, a linear function by a convex one, is quasi-concave: it is least where as many
    independent cells as there are have a query that counts for nothing, or where nothing of the
    weights is left. So weights of such cells are taken for their levels, one of each cell.
    """
    cells, cell = np.unique(plain, axis=1, return_inverse=True)
    cell, corners = cell.reshape(-1), _basis(cells)
    levels = [np.unique(weight[cell == number]).tolist() for number in range(cells.shape[1])]
    starts = np.flatnonzero(np.diff(family, prepend=-1))
    if comb(len(levels), len(corners)) > MOST_STEPS:
        return True
    chosen = [
        list(places)
        for places in combinations(range(len(levels)), len(corners))
        if np.linalg.matrix_rank(corners[:, list(places)]) == len(corners)
    ]
    n_choices = sum(prod(len(levels[place]) for place in places) for places in chosen)
    if n_choices * len(weight) > MOST_NUMBERS:
        return True

    def is_about_few(level: Floats) -> bool:
        sizes = np.add.reduceat(np.abs(weight - level[:, cell]), starts, axis=1)
        least = smallest * (1 - NOTHING) * (sizes**2).sum(axis=1)
        return bool((sizes.sum(axis=1) ** 2 < least).any())

    if is_about_few(np.zeros((1, len(levels)))):
        return True
    for places in chosen:
        to_all = np.linalg.solve(corners[:, places], corners)
        choices = product(*(levels[place] for place in places))
        while some := list(islice(choices, 1_000)):
            if is_about_few(np.array(some) @ to_all):
                return True
    return False


def _zero_at(space: Floats, place: int) -> Floats:
    """An orthonormal basis of the combinations of orthonormal rows that are 0 at a place.

    Householder's reflection turns all but the first row so that they are.
    """
    normal = space[:, place].copy()
    normal[0] += np.copysign(np.linalg.norm(normal), normal[0])
    return (space - np.outer(2 * normal / (normal @ normal), normal @ space))[1:]


def _vanishing(columns: Floats) -> Floats:
    """An orthonormal basis, by rows, of the combinations of rows that are 0 in every column."""
    n = len(columns)
    if not columns.shape[1]:
        return np.eye(n)
    directions, sizes, _ = np.linalg.svd(columns)
    return directions[:, _rank(sizes) :].T


def _basis(rows: Floats) -> Floats:
    """An orthonormal basis of what the rows span."""
    if not rows.size:
        return np.zeros((0, rows.shape[1]))
    _, sizes, right = np.linalg.svd(rows, full_matrices=False)
    return right[: _rank(sizes)]


def _rank(sizes: Floats) -> int:
    return int((sizes > NOTHING * max(float(sizes.max(initial=0.0)), 1.0)).sum())
